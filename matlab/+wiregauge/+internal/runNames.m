function names = runNames(runs)
%RUNNAMES  Names of one run or several, as a cell row: see wiregauge.internal.runName.
%   names = wiregauge.internal.runNames(runs) takes a run, a name, or a cell array of these.

if isa(runs, 'string')
    runs = cellstr(runs);
elseif ~iscell(runs)
    runs = {runs};
end
if isempty(runs)
    wiregauge.internal.fail('wiregauge:argument', 'the run is missing: the cell array is empty');
end
names = cellfun(@wiregauge.internal.runName, runs(:)', 'UniformOutput', false);
end
