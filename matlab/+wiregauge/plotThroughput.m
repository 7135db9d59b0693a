function handle = plotThroughput(run, varargin)
%PLOTTHROUGHPUT  Throughput against response size, one line per depth.
%   wiregauge.plotThroughput(run) draws the IN throughput of correct exchanges against the response size (the request
%   size, if only that was varied), and returns the figure handle. A dashed line is the limit of the medium, if known.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'In', [48 1000 4000], 'Count', 200);
%     handle = wiregauge.plotThroughput(run);
%
%   Errors: wiregauge:argument if it is not an exchange run.
%
%   See also wiregauge.plotHistogram, wiregauge.plotTrt, wiregauge.savePicture, wiregauge.exchange.

wiregauge.internal.given(nargin, 1, 1, 'wiregauge.plotThroughput(run)');
points = wiregauge.internal.exchanges(run, []);
handle = wiregauge.internal.sheet('Throughput against size', 800, 420);
wiregauge.internal.panel(handle, 1, 1, 1, 1);
field = 'in_bytes';
if numel(unique([points.in_bytes])) == 1 && numel(unique([points.out_bytes])) > 1
    field = 'out_bytes';
end
depths = unique([points.depth]);
labels = {};
for k = 1:numel(depths)
    these = points([points.depth] == depths(k));
    [sizes, order] = sort([these.(field)]);
    rates = arrayfun(@(one) one.summary.throughput.([field, '_s']), these(order)) / 1e3;
    colour = wiregauge.internal.colours(k);
    plot(sizes, rates, 'o-', 'color', colour, 'markerfacecolor', colour, 'linewidth', 1.5);
    labels{end + 1} = sprintf('depth %d', depths(k)); %#ok<AGROW>
end
limit = points(1).summary.limit;
if isstruct(limit) && isfield(limit, 'bytes_s')
    plot(xlim(), limit.bytes_s / 1e3 * [1 1], 'k--');
    labels{end + 1} = 'limit of the medium';
end
limits = ylim();
ylim([0, 1.4 * limits(2)]); % Room for the legend.
if strcmp(field, 'in_bytes')
    xlabel('response size in bytes');
    ylabel('IN in kB/s');
else
    xlabel('request size in bytes');
    ylabel('OUT in kB/s');
end
legend(labels, 'location', 'northwest', 'fontsize', 10);
end
