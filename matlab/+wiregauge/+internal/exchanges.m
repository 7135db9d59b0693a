function [points, run] = exchanges(run, chosen)
%EXCHANGES  The points of a run of exchanges that are to be drawn.
%   points = wiregauge.internal.exchanges(run, chosen) returns run.points, or those with the numbers in chosen (from 1).
%   [points, run] = ... also returns the run, loaded if its name was given.
%
%   Errors: wiregauge:argument if run is none of exchanges, or has no such points.

if (ischar(run) && size(run, 1) == 1 && ~isempty(run)) || (isa(run, 'string') && isscalar(run))
    run = wiregauge.loadRun(run);
end
if ~isa(run, 'wiregauge.Run') && ~(isstruct(run) && all(isfield(run, {'kind', 'points'})))
    wiregauge.internal.fail('wiregauge:argument', ...
        'the run must be one of wiregauge.exchange or wiregauge.loadRun, its directory, its name or ''last'', not %s', ...
        wiregauge.internal.described(run));
end
if ~strcmp(run.kind, 'exchange')
    wiregauge.internal.fail('wiregauge:argument', 'the run must be one of wiregauge.exchange, not of wiregauge.%s', run.kind);
end
points = run.points;
if ~isempty(chosen)
    if ~isnumeric(chosen)
        wiregauge.internal.fail('wiregauge:argument', 'Points must be numbers from 1 to %d, not %s', numel(points), ...
            wiregauge.internal.described(chosen));
    end
    chosen = double(chosen(:)');
    wrong = chosen(~(chosen >= 1 & chosen <= numel(points) & chosen == fix(chosen)));
    if ~isempty(wrong)
        wiregauge.internal.fail('wiregauge:argument', 'Points must be numbers from 1 to %d, not %g', numel(points), wrong(1));
    end
    [~, first] = unique(chosen, 'first');
    again = chosen;
    again(first) = [];
    if ~isempty(again)
        wiregauge.internal.fail('wiregauge:argument', 'Points has %d more than once', again(1));
    end
    points = points(chosen);
end
if isempty(points)
    wiregauge.internal.fail('wiregauge:argument', 'this run has no finished point');
end
end
