function handle = plotTrt(run, varargin)
%PLOTTRT  RTT and TRT against depth, with the ideal TRT = RTT / depth.
%   wiregauge.plotTrt(run) draws two lines for each pair of sizes, of at most 10, and returns the figure handle. TRT is the
%   time from the start of one exchange to the start of the next: the sampling period of a control loop.
%   The ideal is the RTT at the smallest depth, divided by the depth.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'Depth', [1 2 4], 'Count', 200);
%     handle = wiregauge.plotTrt(run);
%
%   Errors: wiregauge:argument if it is not an exchange run, or has only one depth.
%
%   See also wiregauge.plotHistogram, wiregauge.plotThroughput, wiregauge.savePicture, wiregauge.exchange.

wiregauge.internal.given(nargin, 1, 1, 'wiregauge.plotTrt(run)');
[points, run] = wiregauge.internal.exchanges(run, []);
sizes = unique([[points.out_bytes]', [points.in_bytes]'], 'rows');
if numel(unique([points.depth])) < 2
    wiregauge.internal.fail('wiregauge:argument', 'this run has only one depth: measure with ''Depth'', [1 2 4]');
end
[chosen, note] = wiregauge.internal.spread(size(sizes, 1), 'sizes');
[factor, unit] = wiregauge.internal.timeUnit(max(arrayfun(@(one) max(mean(one.rtt_ns), mean(one.trt_ns)), points)));
handle = wiregauge.internal.sheet('RTT and TRT against depth', 840, 420);
wiregauge.internal.panel(handle, 1, 1, 1, 1, [24 240]);
entries = cell(numel(chosen), 2);
for k = 1:numel(chosen)
    pair = sizes(chosen(k), :);
    these = points([points.out_bytes] == pair(1) & [points.in_bytes] == pair(2));
    [depths, order] = sort([these.depth]);
    these = these(order);
    rtt = arrayfun(@(one) mean(one.rtt_ns), these) / factor;
    trt = arrayfun(@(one) mean(one.trt_ns), these) / factor;
    look = [wiregauge.internal.series(k), {'linewidth', 1.5}];
    plot(depths, trt, look{:});
    plot(depths, rtt, look{:}, 'linestyle', '--', 'linewidth', 1);
    plot(depths, rtt(1) * depths(1) ./ depths, look{:}, 'linestyle', ':', 'marker', 'none');
    entries(k, :) = {sprintf('OUT %s B, IN %s B', wiregauge.internal.thousands(pair(1)), wiregauge.internal.thousands(pair(2))), look};
end
styles = {'-', '--', ':'};
names = {'mean TRT', 'mean RTT', 'ideal TRT'};
for k = 1:numel(names)
    entries(end + 1, :) = {names{k}, {'color', 'black', 'linestyle', styles{k}}}; %#ok<AGROW>
end
set(gca(), 'xtick', unique([points.depth]));
highest = ylim();
ylim([0, highest(2)]);
xlim([min([points.depth]) - 0.2, max([points.depth]) + 0.2]);
wiregauge.internal.heading(run, note);
xlabel('depth');
ylabel(sprintf('time (%s)', unit));
wiregauge.internal.key(handle, 250, entries);
end
