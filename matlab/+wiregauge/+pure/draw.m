function figureHandle = draw(results, varargin)
%DRAW  Histograms of RTT and TRT, one row for each R and size, as in the paper.
%   wiregauge.pure.draw(results) draws the results of wiregauge.pure.compare: on the left how often each RTT occurred, on the right
%   each TRT. All panels share their axis of time. Returns the figure's handle. Of more than 10 results, 10 from the first to the
%   last are drawn.
%
%   Example:
%     results = wiregauge.pure.compare('tcp://127.0.0.1:7700', 'In', 48, 'Count', 100);
%     handle = wiregauge.pure.draw(results);

wiregauge.internal.given(nargin, 1, 1, 'wiregauge.pure.draw(wiregauge.pure.compare(address))');
wiregauge.internal.results(results);
[~, order] = sortrows([[results.in]', [results.queue]']); % Those of one size stand together.
results = results(order);
[chosen, note] = wiregauge.internal.spread(numel(results), 'results');
results = results(chosen);
rows = numel(results);
figureHandle = wiregauge.internal.sheet('RTT and TRT with requests queued ahead', 800, 84 + 110 * rows);
top = 1.05 * max([results.p99_ns]);
[factor, unit] = wiregauge.internal.timeUnit(top);
label = @(one, what, mean_ns) sprintf('R = %d, IN %s B: %s, mean %.2f %s', one.queue, wiregauge.internal.thousands(one.in), ...
    what, mean_ns / factor, unit);
for k = 1:rows
    one = results(k);
    side(figureHandle, rows, k, 1, one.rtt_ns / factor, top / factor, label(one, 'RTT', one.mean_ns), unit);
    if k == 1
        title(['R: requests queued beyond the one being served', note], 'fontsize', 10, 'fontweight', 'normal');
    end
    side(figureHandle, rows, k, 2, one.trt_ns / factor, top / factor, label(one, 'TRT', one.trt_mean_ns), unit);
end
end

function side(figureHandle, rows, row, column, values, top, label, unit)
wiregauge.internal.panel(figureHandle, rows, 2, row, column, [24 0]);
edges = (0:80) * top / 80;
% What lies beyond the axis is counted in the last bar, not left out.
wiregauge.internal.bars(edges, wiregauge.internal.counts(min(values, top), edges), wiregauge.internal.colours(column));
wiregauge.internal.caption(label);
if row == rows
    xlabel(unit);
end
end
