function failed(status, said, kept)
%FAILED  The error of a command of the wiregauge program, by its exit code.
%   wiregauge.internal.failed(status, said, kept) ends in wiregauge:usage, wiregauge:interrupted or wiregauge:link with the text said;
%   kept is added unless it was a usage error.

switch status
    case 2
        error('wiregauge:usage', '%s', said);
    case 130
        error('wiregauge:interrupted', 'interrupted%s', kept);
    otherwise
        error('wiregauge:link', '%s%s', said, kept);
end
end
