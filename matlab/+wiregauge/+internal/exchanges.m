function points = exchanges(run, chosen)
%EXCHANGES  The points of a run of exchanges that are to be drawn.
%   points = wiregauge.internal.exchanges(run, chosen) returns run.points, or those with the numbers in chosen (from 1).
%
%   Errors: wiregauge:argument if run is none of exchanges, or has no such points.

if ~isa(run, 'wiregauge.Run') && ~(isstruct(run) && all(isfield(run, {'kind', 'points'})))
    error('wiregauge:argument', 'this needs a run of wiregauge.exchange or wiregauge.loadRun, not a %s', class(run));
end
if ~strcmp(run.kind, 'exchange')
    error('wiregauge:argument', 'this needs an exchange run, not a %s run', run.kind);
end
points = run.points;
if ~isempty(chosen)
    if ~isnumeric(chosen) || any(chosen < 1 | chosen > numel(points) | chosen ~= fix(chosen))
        error('wiregauge:argument', 'Points must be numbers from 1 to %d', numel(points));
    end
    points = points(chosen);
end
if isempty(points)
    error('wiregauge:argument', 'this run has no finished point');
end
end
