function failed(status, said, kept)
%FAILED  The error of a command of the wiregauge program, by its exit code.
%   wiregauge.internal.failed(status, said, kept) ends in wiregauge:usage, wiregauge:interrupted or wiregauge:link with what the program
%   wrote to standard error, in the words of this package; kept is added unless it was a usage error.

said = wiregauge.internal.errorText(said);
switch status
    case 2
        wiregauge.internal.fail('wiregauge:usage', '%s', said);
    case 130
        wiregauge.internal.fail('wiregauge:interrupted', 'interrupted%s', kept);
    otherwise
        if isempty(said)
            said = sprintf('the wiregauge program failed with exit code %d', status);
        end
        wiregauge.internal.fail('wiregauge:link', '%s%s', said, kept);
end
end
