function names = runNames(runs)
%RUNNAMES  Names of one run or several, as a cell row: see wiregauge.internal.runName.
%   names = wiregauge.internal.runNames(runs) takes a run, a name, or a cell array of these.

if isa(runs, 'string')
    runs = cellstr(runs);
elseif ~iscell(runs)
    runs = {runs};
end
if isempty(runs)
    error('wiregauge:argument', 'there is no run in an empty cell array');
end
names = cellfun(@wiregauge.internal.runName, runs(:)', 'UniformOutput', false);
end
