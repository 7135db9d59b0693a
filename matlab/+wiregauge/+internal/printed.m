function printed(kind, words, places)
%PRINTED  Run a command of the wiregauge program and print what it prints.
%   wiregauge.internal.printed('deadline', words, places) runs `wiregauge deadline WORDS -- PLACES`. Missed limits, which the
%   program reports on standard error, are printed too.
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, with what the program said.

[status, output, said] = wiregauge.internal.command([{kind}, words, {'--'}, places]);
if ~any(status == [0, 1])
    wiregauge.internal.failed(status, said, '');
end
fprintf('%s', output);
if status == 1
    fprintf('%s\n', said);
end
end
