function points = exchanges(run, chosen)
%EXCHANGES  The points of a run of exchanges that are to be drawn.
%   points = wiregauge.internal.exchanges(run, chosen) returns run.points, or those with the numbers in chosen (from 1).
%
%   Errors: wiregauge:argument if run is none of exchanges, or has no such points.

if ~isa(run, 'wiregauge.Run') && ~(isstruct(run) && all(isfield(run, {'kind', 'points'})))
    wiregauge.internal.fail('wiregauge:argument', 'the run must be one of wiregauge.exchange or wiregauge.loadRun, not %s', ...
        wiregauge.internal.described(run));
end
if ~strcmp(run.kind, 'exchange')
    wiregauge.internal.fail('wiregauge:argument', 'the run must be one of wiregauge.exchange, not of wiregauge.%s', run.kind);
end
points = run.points;
if ~isempty(chosen)
    if ~isnumeric(chosen) || any(chosen < 1 | chosen > numel(points) | chosen ~= fix(chosen))
        wiregauge.internal.fail('wiregauge:argument', 'Points must be numbers from 1 to %d', numel(points));
    end
    points = points(chosen);
end
if isempty(points)
    wiregauge.internal.fail('wiregauge:argument', 'this run has no finished point');
end
end
