function printed(kind, words, places)
%PRINTED  Run a command of the wiregauge program and print its output.
%   wiregauge.internal.printed('deadline', words, places) runs `wiregauge deadline WORDS -- PLACES`. Missed limits and
%   undecided conditions, which the program reports on standard error, are printed too. Flags are printed as options.
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, with the message of the program.

[status, output, said] = wiregauge.internal.command([{kind}, words, {'--'}, places]);
if ~any(status == [0, 1])
    wiregauge.internal.failed(status, said, '');
end
fprintf('%s', wiregauge.internal.inMatlab(output));
if ~isempty(said)
    fprintf('%s\n', wiregauge.internal.inMatlab(said));
end
end
