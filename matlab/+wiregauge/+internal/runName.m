function name = runName(run)
%RUNNAME  The name or directory by which the wiregauge program finds a run.
%   name = wiregauge.internal.runName(run) takes a run of wiregauge.exchange or wiregauge.loadRun, or text: its directory, its name,
%   the beginning of it, or 'last'.
%
%   Errors: wiregauge:argument.

if (isa(run, 'wiregauge.Run') || (isstruct(run) && isfield(run, 'directory'))) && isscalar(run)
    run = run.directory;
end
if ~(ischar(run) && size(run, 1) == 1) && ~(isa(run, 'string') && isscalar(run))
    wiregauge.internal.fail('wiregauge:argument', ...
        'the run must be one of wiregauge.exchange or wiregauge.loadRun, its directory, its name or ''last'', not %s', ...
        wiregauge.internal.described(run));
end
name = wiregauge.internal.text(run, 'the run');
end
