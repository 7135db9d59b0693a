function savePicture(handle, file, varargin)
%SAVEPICTURE  Save a figure as PNG or SVG, according to the file name.
%   wiregauge.savePicture(wiregauge.plotHistogram(run), 'rtt.png') does the same in MATLAB and in Octave with each of its graphics.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'Count', 200);
%     wiregauge.savePicture(wiregauge.plotHistogram(run), [tempname(), '.png'])
%
%   Errors: wiregauge:argument for another kind of file, a folder that does not exist, or no figure.
%
%   See also wiregauge.plotHistogram, wiregauge.plotTrt, wiregauge.plotThroughput, wiregauge.exchange.

wiregauge.internal.given(nargin, 2, 2, 'wiregauge.savePicture(wiregauge.plotTrt(run), ''trt.png'')');
if ~isscalar(handle) || ~ishghandle(handle) || ~strcmp(get(handle, 'type'), 'figure')
    wiregauge.internal.fail('wiregauge:argument', 'the first argument must be the handle of an open figure, not %s', ...
        wiregauge.internal.described(handle));
end
file = wiregauge.internal.text(file, 'the file');
[folder, ~, ending] = fileparts(file);
if ~any(strcmpi(ending, {'.png', '.svg'}))
    wiregauge.internal.fail('wiregauge:argument', 'the file name must end in .png or .svg, not "%s"', file);
end
if ~isempty(folder) && ~isfolder(folder)
    wiregauge.internal.fail('wiregauge:argument', 'there is no folder "%s"; mkdir makes it', folder);
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
