function numbers = counts(values, edges)
%COUNTS  How many values lie between each two neighbouring edges, the last edge included.
%   numbers = wiregauge.internal.counts(values, edges) returns a row, one element shorter than edges. MATLAB advises against histc,
%   and Octave has no histcounts.

bins = numel(edges) - 1;
place = floor((values(:) - edges(1)) / (edges(2) - edges(1))) + 1;
place(place > bins & values(:) <= edges(end) * (1 + 1e-12)) = bins;
inside = place >= 1 & place <= bins;
numbers = accumarray(place(inside), 1, [bins, 1])';
end
