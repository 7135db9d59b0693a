function result = answered(kind, words, places)
%ANSWERED  Run a command of the wiregauge program and return what it prints as JSON.
%   result = wiregauge.internal.answered('deadline', words, places) runs `wiregauge deadline --json WORDS -- PLACES`. Missed limits
%   (exit code 1) are no error: the result has them.
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, with the message of the program.

[status, output, said] = wiregauge.internal.command([{kind, '--json'}, words, {'--'}, places]);
if ~any(status == [0, 1])
    wiregauge.internal.failed(status, said, '');
end
result = wiregauge.internal.lists(wiregauge.internal.decoded(output));
end
