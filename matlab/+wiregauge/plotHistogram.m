function handle = plotHistogram(run, varargin)
%PLOTHISTOGRAM  Histogram of the RTT, one panel for each point of a run.
%   wiregauge.plotHistogram(run) draws the points of a run of wiregauge.exchange (or of its directory, its name, 'last') below one
%   another, with a common time axis, and returns the figure handle: all, or 10 of them from the first to the last. 'Points'
%   ([1 3]) draws these; 'Log' (true) draws the counts on a logarithmic axis, so that the tail is visible. Times longer than the
%   longest p99 are counted in the last bar.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'Depth', [1 4], 'Count', 200);
%     handle = wiregauge.plotHistogram(run, 'Log', true);
%
%   Errors: wiregauge:argument if it is not an exchange run, or 'Points' has more than 10.
%
%   See also wiregauge.plotTrt, wiregauge.plotThroughput, wiregauge.savePicture, wiregauge.exchange.

wiregauge.internal.given(nargin, 1, Inf, 'wiregauge.plotHistogram(run, ''Points'', [1 3])');
options = wiregauge.internal.pairs(varargin, struct('Points', [], 'Log', false));
if ~(isscalar(options.Log) && (islogical(options.Log) || isequal(options.Log, 0) || isequal(options.Log, 1)))
    wiregauge.internal.fail('wiregauge:argument', 'Log must be true or false, not %s', wiregauge.internal.described(options.Log));
end
[points, run] = wiregauge.internal.exchanges(run, options.Points);
[chosen, note] = wiregauge.internal.spread(numel(points), 'points');
if ~isempty(note) && ~isempty(options.Points)
    wiregauge.internal.fail('wiregauge:argument', 'Points must be at most %d, not %d: more cannot be distinguished', ...
        numel(chosen), numel(points));
end
points = points(chosen);
handle = wiregauge.internal.sheet('RTT histogram', 800, 80 + 90 * numel(points));
least = Inf;
most = 0;
for k = 1:numel(points)
    sorted = sort(points(k).rtt_ns);
    if ~isempty(sorted)
        least = min(least, sorted(1));
        most = max(most, sorted(ceil(0.99 * end)));
    end
end
if ~isfinite(least)
    wiregauge.internal.fail('wiregauge:argument', 'no exchange of these points was answered correctly');
end
width = max(1.05 * (most - least) / 120, 1);
[factor, unit] = wiregauge.internal.timeUnit(least + 120 * width);
edges = (least + (0:120) * width) / factor;
for k = 1:numel(points)
    wiregauge.internal.panel(handle, numel(points), 1, k, 1, [24 0]);
    counts = wiregauge.internal.counts(min(points(k).rtt_ns / factor, edges(end)), edges);
    if options.Log
        top = max(1, ceil(log10(max(counts))));
        wiregauge.internal.bars(edges, max(0, log10(max(counts, 0.5)) + 0.3), wiregauge.internal.colours(k));
        ylim([0, 1.4 * (top + 0.3)]);
        set(gca(), 'ytick', (0:top) + 0.3, 'yticklabel', arrayfun(@(n) sprintf('%g', 10^n), 0:top, 'UniformOutput', false));
    else
        wiregauge.internal.bars(edges, counts, wiregauge.internal.colours(k));
    end
    wiregauge.internal.caption(wiregauge.internal.label(points(k)));
    if k == 1
        wiregauge.internal.heading(run, note);
    end
end
xlabel(sprintf('RTT (%s), longer ones in the last bar', unit));
end
