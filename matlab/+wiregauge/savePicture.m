function savePicture(handle, file)
%SAVEPICTURE  Save a figure as PNG or SVG, according to the file name.
%   wiregauge.savePicture(wiregauge.plotHistogram(run), 'rtt.png') does the same in MATLAB and in Octave with each of its graphics.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'Count', 200);
%     wiregauge.savePicture(wiregauge.plotHistogram(run), [tempname(), '.png'])
%
%   Errors: wiregauge:argument for another kind of file.
%
%   See also wiregauge.plotHistogram, wiregauge.plotTrt, wiregauge.plotThroughput, wiregauge.exchange.

file = wiregauge.internal.text(file, 'the file');
[~, ~, ending] = fileparts(file);
if ~any(strcmpi(ending, {'.png', '.svg'}))
    error('wiregauge:argument', 'the file name must end in .png or .svg, not "%s"', file);
end
device = ['-d', lower(ending(2:end))];
if exist('OCTAVE_VERSION', 'builtin') && strcmp(get(handle, '__graphics_toolkit__'), 'gnuplot')
    if strcmp(device, '-dpng')
        device = '-dpngcairo'; % The other one goes through Ghostscript.
    end
    before = warning('off', 'print:nogs');
    restore = onCleanup(@() warning(before));
    print(handle, file, device); % 72 pixels an inch.
else
    print(handle, file, device, '-r100');
end
end
