function seconds(name, value, most)
%SECONDS  Refuse what is not a number of seconds above 0.
%   wiregauge.internal.seconds('Timeout', value, 86400) ends in wiregauge:argument, which names it, unless value is at most this.

if ~(isnumeric(value) && isreal(value) && isscalar(value) && value > 0 && value <= most && isfinite(value))
    limit = '';
    if isfinite(most)
        limit = sprintf(', at most %g', most);
    end
    wiregauge.internal.fail('wiregauge:argument', '%s must be a number of seconds above 0%s, not %s', name, limit, ...
        wiregauge.internal.described(value));
end
end
