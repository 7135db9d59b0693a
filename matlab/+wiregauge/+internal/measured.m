function run = measured(kind, address, given)
%MEASURED  Have the wiregauge program measure, and load what it stored.
%   run = wiregauge.internal.measured('exchange', address, given) runs `wiregauge exchange ADDRESS` with the options in the cell
%   array given (see wiregauge.internal.flags) and returns the run as wiregauge.loadRun does, with text (the tables that
%   it printed) and missed (the limits of 'Require' that are missed or undecided, a cell column of text).
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, with the message of the program. What a run measured before its
%   link failed is kept; the error names its directory.

if iscell(address)
    addresses = cellfun(@(one) wiregauge.internal.text(one, 'an address'), address(:)', 'UniformOutput', false);
else
    addresses = {wiregauge.internal.text(address, 'the address')};
end
words = wiregauge.internal.flags(given);
for option = {'NoStore', 'Quiet'}
    if any(strcmp(words, ['--', regexprep(lower(option{1}), '^no', 'no-')]))
        wiregauge.internal.fail('wiregauge:argument', 'the run is loaded from where it is stored: omit %s', option{1});
    end
end
wiregauge.internal.binary(); % Its absence is no interrupt.
% Octave ends every function at Ctrl-C, without an error that could be caught: only this is still called.
progress = containers.Map({'ended'}, {false});
note = onCleanup(@() interrupted(progress, words));
[status, output, said] = wiregauge.internal.command([{kind}, words, {'--'}, addresses]);
progress('ended') = true; %#ok<NASGU>
clear note
[stored, found] = regexp(output, '\nstored in ([^\n]*)', 'tokens', 'match', 'once');
kept = '';
if ~isempty(found)
    kept = sprintf('\nwhat was measured is kept: wiregauge.loadRun(''%s'')', stored{1});
end
if ~any(status == [0, 1])
    wiregauge.internal.failed(status, said, kept);
elseif isempty(found)
    wiregauge.internal.fail('wiregauge:failed', 'the run was not stored, so it cannot be loaded');
end
run = wiregauge.internal.stored(stored{1});
run.text = wiregauge.internal.ofRun(output);
lines = strtrim(strsplit(said, sprintf('\n'))');
shown = 'missed|undecided';
if any(strcmp(words, '--undecided=pass'))
    shown = 'missed';
end
lines = reshape(lines(~cellfun(@isempty, regexp(lines, ['^limit (', shown, '): ']))), [], 1);
run.missed = regexprep(lines, {'^limit missed: ', '^limit undecided: '}, {'', 'undecided: '});
run = wiregauge.Run(run);
end

function interrupted(progress, words)
if ~progress('ended')
    name = regexprep(words(strncmp(words, '--store=', 8)), '^--store=', '');
    if isempty(name)
        name = {'last'};
    end
    fprintf('\nwiregauge: interrupted; what was measured until then is stored: run = wiregauge.loadRun(''%s'')\n', name{end});
end
end
