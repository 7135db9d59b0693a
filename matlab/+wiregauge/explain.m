function result = explain(run, varargin)
%EXPLAIN  Explain where the time of a run goes and what limits it; predict other settings.
%   wiregauge.explain(run) prints the text of `wiregauge explain`; with an output it returns a struct. run is an exchange or
%   stream run of this package, its directory, its name, or 'last', or a capture file of a USB bus.
%
%   Options are the flags of `wiregauge explain`:
%     'Predict'       a setting that was not measured: struct('in', 3000, 'depth', 3), or text: 'in=3000,depth=3',
%                     'transfer=8k,queue=2'; or a cell array of these
%     'Confidence'    confidence level of the prediction interval, 0 to 1
%     'Endpoint', 'Begin', 'End', 'Figure'    of a capture file
%
%   result has the fields of `wiregauge explain --json` (docs/explain.md); times are in ns, shares 0 to 1, missing values NaN:
%     run, kind                   name of the run; 'exchange' or 'stream'
%     points                      a struct array, one element for each point (with --json: exchanges, flows):
%       point                     index, sizes and depth, or transfer size and queue
%       verdict                   kind of the bottleneck, share of the time
%       words                     the verdict as text
%       rtt_ns, trt_ns, device_ns, wire_ns, host_ns    of exchanges: means
%     models                      a struct array, one element for each direction and link:
%       model                     the fitted link model, or NaN; why_not is the reason
%       predictions               a struct array: at, trt_ns, rtt_ns, out_bytes_s, in_bytes_s
%   Of a capture file: endpoints and others (docs/explain.md).
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'In', [48 1000 4000], 'Depth', [1 2 4], 'Count', 200);
%     result = wiregauge.explain(run, 'Predict', struct('in', 2000, 'depth', 3));
%     device = [result.points.device_ns] / 1e3            % in us
%     disp(result.points(1).words)
%     result.models.predictions.trt_ns
%
%   Errors: wiregauge:usage (no such run, a loop run, too few points for a prediction), wiregauge:argument, wiregauge:missing.
%
%   See also wiregauge.exchange, wiregauge.tune.

wiregauge.internal.given(nargin, 1, Inf, 'result = wiregauge.explain(''last'')');
places = {wiregauge.internal.runName(run)};
words = wiregauge.internal.flags(wiregauge.internal.settings(varargin, 'predict'));
if nargout == 0
    wiregauge.internal.printed('explain', words, places);
    return
end
result = wiregauge.internal.answered('explain', words, places);
for name = {'exchanges', 'flows'}
    if isfield(result, name{1})
        result.points = result.(name{1});
        result = rmfield(result, name{1});
    end
end
end
