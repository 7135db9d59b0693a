function handle = plotTrt(run, varargin)
%PLOTTRT  RTT and TRT against depth, with the ideal TRT = RTT / depth.
%   wiregauge.plotTrt(run) draws two lines for each size that was measured at several depths, and returns the figure
%   handle. TRT is the time from the start of one exchange to the start of the next: the sampling period of a control loop.
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
points = wiregauge.internal.exchanges(run, []);
sizes = unique([[points.out_bytes]', [points.in_bytes]'], 'rows');
if numel(unique([points.depth])) < 2
    error('wiregauge:argument', 'this run has only one depth: measure with ''Depth'', [1 2 4]');
end
handle = wiregauge.internal.sheet('RTT and TRT against depth', 800, 420);
wiregauge.internal.panel(handle, 1, 1, 1, 1);
labels = {};
lines = [];
for k = 1:size(sizes, 1)
    these = points([points.out_bytes] == sizes(k, 1) & [points.in_bytes] == sizes(k, 2));
    [depths, order] = sort([these.depth]);
    these = these(order);
    rtt = arrayfun(@(one) mean(one.rtt_ns), these) / 1e3;
    trt = arrayfun(@(one) mean(one.trt_ns), these) / 1e3;
    colour = wiregauge.internal.colours(k);
    lines(end + 1) = plot(depths, trt, 'o-', 'color', colour, 'markerfacecolor', colour, 'linewidth', 2); %#ok<AGROW>
    other = plot(depths, rtt, 's--', 'color', colour, 'linewidth', 1);
    ideal = plot(depths, rtt(1) * depths(1) ./ depths, ':', 'color', colour, 'linewidth', 1.5);
    labels{end + 1} = sprintf('TRT, OUT %d B, IN %d B', sizes(k, :)); %#ok<AGROW>
end
lines = [lines, other, ideal];
labels = [labels, {'RTT', 'ideal TRT'}];
set(gca(), 'xtick', unique([points.depth]));
limits = ylim();
% Room for the legend.
ylim([0, 1.6 * limits(2)]);
xlim([min([points.depth]) - 0.2, max([points.depth]) + 0.2]);
xlabel('depth (R + 1)');
ylabel('us');
legend(lines, labels, 'location', 'northeast', 'fontsize', 10);
end
