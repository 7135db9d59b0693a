function result = tune(address, varargin)
%TUNE  Find the best settings of a link, and confirm them with a new run.
%   wiregauge.tune(address, 'Minimise', 'trt', 'In', 48, 'Depth', '1..16') prints the tables of `wiregauge tune`; with an output it
%   returns a struct. It measures until the search and the confirming run are done, which takes seconds to minutes.
%
%   Options are the flags of `wiregauge tune` (docs/tune.md); times are seconds, or text:
%     'Minimise', 'Maximise'      the figure: 'trt', 'rtt.p99', 'in-throughput', 'exchanges' ...
%     'SubjectTo'                 constraints: 'p99<10ms', {'p99<10ms', 'lost=0'}
%     'In', 'Out', 'Depth'        values to choose from: [48 100], or text ('48..8000', '1..16')
%     'Wait', 'Connect'           'block,poll,spin'; 'once,each'
%     'Count'                     exchanges that an exhaustive search would measure at each setting
%     'Direction', 'Transfer', 'Queue', 'Duration'    tune a stream instead
%     'Confirm', 'Budget', 'Timeout', 'Priority', 'Baud' and others
%
%   result has the fields of `wiregauge tune --json` (docs/tune.md); times are in ns, rates in B/s, missing values NaN:
%     best                        the setting: out_bytes, in_bytes, depth, wait ..., with objective (value, low, high) and constraints
%                                 (text, found, verdict); NaN if none was found
%     missed                      objectives and constraints that are missed or undecided, a cell column of text; empty on success
%     run                         directory of the confirming run, for wiregauge.loadRun
%     probes                      a struct array, one element for each measured setting
%     front, knee                 the trade-off: latency_ns, bytes_s, per_second
%     use                         how to use the setting: matlab (the calls of a program, as text), command, call (depth, ...)
%     why                         reasons, a cell column of text
%     ended, took_s               'complete', 'out-of-time', 'interrupted', 'link-failed'; seconds
%
%   Example:
%     result = wiregauge.tune('tcp://127.0.0.1:7700', 'Minimise', 'trt', 'In', 48, 'Depth', '1..4', 'Count', 100);
%     depth = result.best.depth
%     trt = result.best.objective.value / 1e3             % in us
%     probed = [result.probes.depth]
%     run = wiregauge.loadRun(result.run);
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, wiregauge:argument, wiregauge:missing.
%
%   See also wiregauge.exchange, wiregauge.explain, wiregauge.loadRun.

wiregauge.internal.given(nargin, 1, Inf, 'result = wiregauge.tune(''tcp://127.0.0.1:7700'', ''Minimise'', ''trt'')');
places = {wiregauge.internal.text(address, 'the address')};
words = wiregauge.internal.flags(varargin);
if nargout == 0
    wiregauge.internal.printed('tune', words, places);
    return
end
result = wiregauge.internal.answered('tune', words, places);
end
