function key(handle, width, entries)
%KEY  Which line is which, on the right of the axes: a legend outside, which graphics toolkits place differently.
%   wiregauge.internal.key(handle, width, {'depth 1', {'color', 'red'}; ...}) draws a text and a line with these properties for
%   each row, in so many pixels of the figure on its right. A row without properties goes on with the text above it.

place = get(handle, 'position');
rows = 16;
drawn = get(handle, 'currentaxes');
axesHandle = axes('parent', handle, 'visible', 'off', 'xlim', [0 width], 'ylim', [0 rows], ...
    'position', [1 - width / place(3), 1 - (20 * rows + 36) / place(4), width / place(3), 20 * rows / place(4)]);
hold(axesHandle, 'on');
for k = 1:size(entries, 1)
    y = rows - k + 0.5;
    properties = entries{k, 2};
    if ~isempty(properties)
        plot(axesHandle, [4 36], [y y], properties{:}, 'marker', 'none');
    end
    if any(strcmp(properties, 'marker')) % Without one, gnuplot draws a dot.
        plot(axesHandle, 20, y, properties{:}, 'linestyle', 'none');
    end
    text(44, y, entries{k, 1}, 'parent', axesHandle, 'fontsize', 10, 'interpreter', 'none');
end
set(handle, 'currentaxes', drawn); % What the user adds, such as a title, is for these.
end
