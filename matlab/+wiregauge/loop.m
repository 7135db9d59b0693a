function run = loop(device, varargin)
%LOOP  Measure the shortest stable latency of a continuous acquire-process-output loop.
%   run = wiregauge.loop('virtual', 'Rate', 48000, 'Notify', [256 1024], 'Duration', '2s') has the wiregauge program measure and returns
%   the stored run: see wiregauge.loadRun.
%
%   Example:
%     run = wiregauge.loop('virtual', 'Rate', 48000, 'Notify', 4096, 'Duration', 0.3, 'Settle', 0.05, 'NoCalibration', true)
%     latency = [run.points.needed_ns] / 1e6              % in ms
%
%   Options are the flags of `wiregauge loop` in CamelCase: 'Rate', 'Channels', 'Notify', 'Preload', 'Wait', 'Find' (true) and
%   so on. Errors as for wiregauge.exchange.
%
%   See also wiregauge.exchange, wiregauge.loadRun.

wiregauge.internal.given(nargin, 1, Inf, 'run = wiregauge.loop(''virtual'', ''Rate'', 48000)');
run = wiregauge.internal.measured('loop', device, varargin);
end
