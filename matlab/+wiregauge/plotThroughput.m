function handle = plotThroughput(run, varargin)
%PLOTTHROUGHPUT  Throughput against response size, one line per depth.
%   wiregauge.plotThroughput(run) draws the IN throughput of correct exchanges against the response size (the request
%   size, if only that was varied), and returns the figure handle. If both sizes were varied, the points with the smallest request
%   are drawn, as in the report; of an echo, where both are the same, all. A dashed line is the limit of the medium, if
%   it is known and not far above.
%   Of more than 10 depths, 10 from the first to the last are drawn.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'In', [48 1000 4000], 'Count', 200);
%     handle = wiregauge.plotThroughput(run);
%
%   Errors: wiregauge:argument if it is not an exchange run.
%
%   See also wiregauge.plotHistogram, wiregauge.plotTrt, wiregauge.savePicture, wiregauge.exchange.

wiregauge.internal.given(nargin, 1, 1, 'wiregauge.plotThroughput(run)');
[points, run] = wiregauge.internal.exchanges(run, []);
[field, other, name, direction] = deal('in_bytes', 'out_bytes', 'response', 'IN');
if numel(unique([points.in_bytes])) == 1 && numel(unique([points.out_bytes])) > 1
    [field, other, name, direction] = deal('out_bytes', 'in_bytes', 'request', 'OUT');
end
held = '';
if ~isequal([points.in_bytes], [points.out_bytes])
    smallest = min([points.(other)]);
    is_drawn = [points.(other)] == smallest;
    if ~all(is_drawn)
        held = sprintf(', OUT %s B only', wiregauge.internal.thousands(smallest));
        points = points(is_drawn);
    end
end
rate = @(one) one.summary.throughput.([field, '_s']);
[factor, unit] = wiregauge.internal.rateUnit(max(arrayfun(rate, points)));
depths = unique([points.depth]);
[chosen, note] = wiregauge.internal.spread(numel(depths), 'depths');
handle = wiregauge.internal.sheet('Throughput against size', 800, 420);
wiregauge.internal.panel(handle, 1, 1, 1, 1, [24 180]);
entries = cell(numel(chosen), 2);
for k = 1:numel(chosen)
    depth = depths(chosen(k));
    these = points([points.depth] == depth);
    [sizes, order] = sort([these.(field)]);
    look = [wiregauge.internal.series(k), {'linewidth', 1.5}];
    plot(sizes, arrayfun(rate, these(order)) / factor, look{:});
    entries(k, :) = {sprintf('depth %d', depth), look};
end
limit = points(1).summary.limit;
if isstruct(limit) && limit.bytes_s <= 4 * max(arrayfun(rate, points)) % Beyond that, the lines would be flat.
    look = {'color', 'black', 'linestyle', '--'};
    plot(xlim(), limit.bytes_s / factor * [1 1], look{:});
    entries(end + 1, :) = {sprintf('limit %.4g %s', limit.bytes_s / factor, unit), look};
    for words = inLines(strtok(limit.source, ';,'), 20)
        entries(end + 1, :) = {words{1}, {}}; %#ok<AGROW>
    end
end
highest = ylim();
ylim([0, highest(2)]);
wiregauge.internal.heading(run, [held, note]);
xlabel(sprintf('%s size (B)', name));
ylabel(sprintf('%s throughput (%s)', direction, unit));
wiregauge.internal.key(handle, 190, entries);
end

function lines = inLines(text, most)
% Text in lines of so many characters, as a cell row.
lines = {''};
for word = strsplit(strtrim(text), ' ')
    if isempty(lines{end})
        lines{end} = word{1};
    elseif numel(lines{end}) + 1 + numel(word{1}) <= most
        lines{end} = [lines{end}, ' ', word{1}];
    else
        lines{end + 1} = word{1}; %#ok<AGROW>
    end
end
end
