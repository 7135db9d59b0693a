function text = tables(directory, words)
%TABLES  The tables of a stored run, as the wiregauge program prints them, in the words of this package.
%   text = wiregauge.internal.tables(directory, {'--quiet'}) is the output of `wiregauge show` with these flags.
%
%   Errors: wiregauge:usage, wiregauge:link, with the message of the program; wiregauge:missing without it.

[status, output, said] = wiregauge.internal.command([{'show'}, words, {'--', directory}]);
if status ~= 0
    wiregauge.internal.failed(status, said, '');
end
text = wiregauge.internal.ofRun(output);
end
