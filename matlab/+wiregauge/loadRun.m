function run = loadRun(name, varargin)
%LOADRUN  Load a stored run: plan, conditions, a struct for each point, and all samples.
%   run = wiregauge.loadRun(directory) returns a wiregauge.Run, which displays as a table of its points:
%
%     directory, kind ('exchange', 'stream', 'loop'), state ('complete', 'interrupted', 'failed', 'running'), problem, address
%     plan, conditions              as in run.json (docs/run-format.md)
%     warnings                      with their remedies, a cell column of text
%     points                        a struct array, one element for each point:
%       exchange run                out_bytes, in_bytes, depth; n (correct responses); p50, p90, p99, p999, mean, sd, min, max of the
%                                   RTT in ns; trt_mean in ns; lost (count), lost_share (0 to 1); exchanges_s, out_bytes_s, in_bytes_s
%                                   (per second); columns of all correct responses, without first and warm-up: rtt_ns, trt_ns
%       stream run                  direction ('in', 'out', 'both'), transfer_bytes, queue; in_bytes_s, out_bytes_s (B/s); lost_bytes
%       loop run                    rate_hz, notify_bytes, preload_bytes, aim ('curve': measured with a long preload, 'hold': this
%                                   preload was tested), needed_ns (shortest stable latency), overruns, underruns
%       summary                     all figures of the point, as in run.json
%       samples                     columns, one row for each exchange, transfer or block, in nanoseconds and bytes; words as
%                                   numbers: phase 0 first, 1 warm-up, 2 measured; status 0 ok, 1 lost, 2 late, 3 duplicated,
%                                   4 reordered, 5 corrupted, 6 unexpected; for a stream 0 ok, 1 stalled, 2 cancelled, 3 failed, and
%                                   way 0 in, 1 out; for a loop xrun 0 none, 1 overrun, 2 underrun, 3 both
%
%   p99 and the like have a value even if its confidence interval is unknown, as of 5 exchanges: the display has (? .. ?) then, and
%   summary.rtt.p99 has low and high.
%
%   Missing values are NaN, also in summary, plan and conditions, so [run.points.p99] has an element for each point.
%
%   wiregauge.loadRun('last') loads the last stored run; a name, or its beginning, that of `wiregauge runs`. run.directory is its
%   path.
%
%   Loading a million samples is fast with the MEX file and takes some seconds without; device ticks are then NaN.
%
%   Example:
%     run = wiregauge.loadRun('last');
%     p99 = [run.points.p99] / 1e3                        % in us, one for each point
%     lost = sum(run.points(1).samples.status == 1)
%     disp(run.directory)
%
%   Errors: wiregauge:run if there is no run, or it cannot be read; wiregauge:missing without the wiregauge program.
%
%   See also wiregauge.exchange, wiregauge.report, wiregauge.compare, wiregauge.Run.

wiregauge.internal.given(nargin, 1, 1, 'run = wiregauge.loadRun(''last'')');
run = wiregauge.Run(wiregauge.internal.stored(wiregauge.internal.runName(name)));
end
