function handle = sheet(name, width, height)
%SHEET  A new figure on white; in Octave without a display one that can be saved only.
%   handle = wiregauge.internal.sheet(name, width, height) opens a figure with that title and size in pixels, of which 72 go into
%   an inch of paper.
%
%   Errors: wiregauge:missing if Octave has no graphics.

visible = 'on';
if exist('OCTAVE_VERSION', 'builtin')
    if isunix() && isempty(getenv('DISPLAY')) && isempty(getenv('WAYLAND_DISPLAY'))
        visible = 'off';
        if any(strcmp(available_graphics_toolkits(), 'gnuplot')) && ~strcmp(graphics_toolkit(), 'gnuplot')
            % The others need a display, or OpenGL, even to save.
            graphics_toolkit('gnuplot');
        end
    end
    check_toolkit();
end
handle = figure('name', name, 'numbertitle', 'off', 'color', 'white', 'visible', visible, 'position', [100 100 width height], ...
    'defaultaxesfontsize', 10, 'defaulttextfontsize', 10);
% After the position, which would change it.
set(handle, 'paperpositionmode', 'manual', 'paperunits', 'inches', 'papersize', [width height] / 72, ...
    'paperposition', [0 0 width height] / 72);
end

function check_toolkit()
% Octave lists gnuplot even where the program is not installed, and fails much later.
kit = '';
if ~isempty(available_graphics_toolkits())
    kit = graphics_toolkit();
end
if isempty(kit) || (strcmp(kit, 'gnuplot') && isempty(wiregauge.internal.onPath('gnuplot')))
    wiregauge.internal.fail('wiregauge:missing', ['Octave has no graphics toolkit here: install gnuplot (on Debian: gnuplot-nox), or ' ...
        'have the program draw: wiregauge.report(run), wiregauge.report(run, ''Figures'', ''folder'')']);
end
end
