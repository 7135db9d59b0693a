function bars(edges, counts, colour)
%BARS  Draw a histogram as one filled outline, which is quick to draw and small to store, however many bars it has.
%   wiregauge.internal.bars(edges, counts, colour) draws counts between the edges (one more) into the present axes.

x = [edges(1), reshape([edges(1:end - 1); edges(2:end)], 1, []), edges(end)];
y = [0, reshape([counts; counts], 1, []), 0];
fill(x, y, colour, 'edgecolor', 'none');
xlim(edges([1 end]));
top = max([counts, 1]);
% Room for the caption above the highest bar.
ylim([0, 1.4 * top]);
set(gca(), 'ytick', [0, top]);
end
