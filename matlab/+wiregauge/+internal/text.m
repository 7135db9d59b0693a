function value = text(value, what)
%TEXT  A row of characters out of 'text' or "text".
%   value = wiregauge.internal.text(value, what) returns a char row; anything else is the error wiregauge:argument, which names it
%   as what.

if isa(value, 'string') && isscalar(value)
    value = char(value);
end
if ~(ischar(value) && size(value, 1) == 1 && ~isempty(value)) || any(value == 0)
    wiregauge.internal.fail('wiregauge:argument', '%s must be text, not %s', what, wiregauge.internal.described(value));
end
end
