function axesHandle = panel(handle, rows, columns, row, column, room)
%PANEL  One of several axes of a figure, laid out the same way in MATLAB and in Octave.
%   axesHandle = wiregauge.internal.panel(handle, rows, columns, row, column) makes axes, counted from the upper left, with room for
%   the numbers on their left and for a label below the last row. room, [above right] in pixels, is for a heading and a key.

if nargin < 6
    room = [0 0];
end
place = get(handle, 'position');
left = 80 / place(3);
below = 56 / place(4);
gap = 12 / place(4);
width = (1 - (20 + room(2)) / place(3)) / columns;
height = (1 - below - gap - room(1) / place(4)) / rows;
axesHandle = axes('parent', handle, 'fontsize', 10, 'box', 'on', 'position', ...
    [left + (column - 1) * width, below + (rows - row) * height, width - left, height - gap]);
if row < rows
    set(axesHandle, 'xticklabel', {});
end
hold(axesHandle, 'on');
end
