function whole(name, value, least, most)
%WHOLE  Refuse what is not one whole number.
%   wiregauge.internal.whole('Count', value, 1, Inf) ends in wiregauge:argument, which names it, unless value is from least to most.

if ~(isnumeric(value) && isreal(value) && isscalar(value) && value >= least && value <= most && value == fix(value) && isfinite(value))
    limit = '';
    if isfinite(most)
        limit = sprintf(', at most %.0f', most);
    end
    wiregauge.internal.fail('wiregauge:argument', '%s must be one whole number, at least %.0f%s, not %s', name, least, limit, ...
        wiregauge.internal.described(value));
end
end
