function run = stream(address, varargin)
%STREAM  Measure one-way data streams: rate, losses, gaps.
%   run = wiregauge.stream('tcp://127.0.0.1:7700', 'Direction', 'in,out', 'Transfer', [512 65536], 'Duration', '2s') has the wiregauge
%   program measure every combination and returns the stored run: see wiregauge.loadRun.
%
%   Example:
%     run = wiregauge.stream('tcp://127.0.0.1:7700', 'Direction', 'in', 'Transfer', [4096 65536], 'Duration', 0.2)
%     rates = [run.points.in_bytes_s] / 1e6               % in MB/s
%
%   Options are the flags of `wiregauge stream` in CamelCase: 'Direction', 'Transfer', 'Queue', 'Duration', 'Rate' and so on.
%   Errors as for wiregauge.exchange.
%
%   See also wiregauge.exchange, wiregauge.loadRun.

wiregauge.internal.given(nargin, 1, Inf, 'run = wiregauge.stream(''tcp://127.0.0.1:7700'', ''Direction'', ''in'')');
run = wiregauge.internal.measured('stream', address, varargin);
end
