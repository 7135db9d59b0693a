function text = summaryText(run)
%SUMMARYTEXT  The display of a run: device, state, the program's tables of its points, warnings, its directory.
%   text = wiregauge.internal.summaryText(run) returns lines.

lines = {sprintf('  wiregauge %s run, %s: %s', run.kind, run.state, run.address)};
if ~isempty(run.tables)
    lines{end + 1} = indented(short(run.tables));
end
if isempty(run.points)
    lines{end + 1} = '  no point was finished';
end
% The tables begin with how the run ended.
if ~isempty(run.problem) && isempty(strfind(run.tables, strtok(run.problem, sprintf('\n')))) %#ok<STREMP>
    lines{end + 1} = indented(run.problem);
end
if isfield(run.conditions, 'note')
    lines{end + 1} = indented(['note: ', run.conditions.note]);
end
for k = 1:numel(run.missed)
    text = run.missed{k};
    if ~strncmp(text, 'undecided: ', 11)
        text = ['missed: ', text]; %#ok<AGROW>
    end
    lines{end + 1} = ['  limit ', text]; %#ok<AGROW>
end
lines{end + 1} = sprintf('  directory: %s', run.directory);
text = sprintf('%s\n', lines{:});
end

function text = short(text)
% The lines that fit on a screen.
most = 40;
lines = strsplit(text, sprintf('\n'));
left = numel(lines) - most;
if left > 1
    text = strjoin([lines(1:most), {sprintf('and %d more lines: run.show()', left)}], sprintf('\n'));
end
end

function text = indented(text)
text = regexprep(text, '(^|\n)(?=[^\n])', '$1  ');
end
