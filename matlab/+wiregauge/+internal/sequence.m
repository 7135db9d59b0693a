function sequence(value)
%SEQUENCE  Refuse what are no sequence numbers: whole numbers below 2^32.
%   wiregauge.internal.sequence(value) ends in wiregauge:argument.

if ~isnumeric(value) || ~isreal(value) || any(~(value(:) >= 0 & value(:) < 2^32 & value(:) == fix(value(:))))
    wiregauge.internal.fail('wiregauge:argument', 'the sequence must be whole numbers from 0 to 4294967295, not %s', ...
        wiregauge.internal.described(value));
end
end
