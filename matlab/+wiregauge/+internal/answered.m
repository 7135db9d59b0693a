function [result, missed] = answered(kind, words, places)
%ANSWERED  Run a command of the wiregauge program and return what it prints as JSON.
%   [result, missed] = wiregauge.internal.answered('deadline', words, places) runs `wiregauge deadline --json WORDS -- PLACES`;
%   missed is the text on standard error if limits were missed (exit code 1), else empty.
%
%   Errors: wiregauge:usage, wiregauge:link, wiregauge:interrupted, with the message of the program.

[status, output, said] = wiregauge.internal.command([{kind, '--json'}, words, {'--'}, places]);
if ~any(status == [0, 1])
    wiregauge.internal.failed(status, said, '');
end
result = wiregauge.internal.decoded(output);
missed = '';
if status == 1
    missed = said;
end
end
