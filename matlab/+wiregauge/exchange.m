function run = exchange(address, varargin)
%EXCHANGE  Measure request/response exchanges: RTT, jitter, throughput, losses.
%   run = wiregauge.exchange('serial:///dev/ttyACM0', 'In', [48 100 1000], 'Depth', [1 2 4], 'Count', 10000) has the wiregauge
%   program measure every combination of sizes and depths and returns the stored run: see wiregauge.loadRun. In MATLAB
%   R2021a and later also In=[48 100 1000].
%
%   Options are the flags of `wiregauge exchange` in CamelCase: 'Out', 'In', 'Depth', 'Count', 'Duration' (seconds, or '2s'), 'Rate',
%   'Protocol' ('echo'), 'Timeout' (seconds, or '100ms'), 'Warmup', 'Connect', 'Below' ('6ms,10ms'), 'Require' ({'p99<2ms'}), 'Store'
%   ('directory'), 'Note' ('new cable', then in run.conditions.note) and so on; `wiregauge help exchange` lists them all.
%
%   run.missed has the limits of 'Require' that are missed or undecided, a cell column of text; empty if none.
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'In', [48 1000], 'Depth', [1 2 4], 'Count', 200, 'Require', 'p99<500ms')
%     p99 = [run.points.p99] / 1e3                        % in us, one for each point
%     median(run.points(2).rtt_ns) / 1e3
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, wiregauge:missing (no wiregauge program), wiregauge:argument.
%
%   See also wiregauge.tune, wiregauge.explain, wiregauge.compare, wiregauge.report, wiregauge.plotHistogram, wiregauge.plotTrt,
%   wiregauge.plotThroughput, wiregauge.stream, wiregauge.open.

wiregauge.internal.given(nargin, 1, Inf, 'run = wiregauge.exchange(''tcp://127.0.0.1:7700'', ''Depth'', [1 2 4])');
run = wiregauge.internal.measured('exchange', address, varargin);
end
