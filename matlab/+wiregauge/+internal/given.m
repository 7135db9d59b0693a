function given(count, least, most, form)
%GIVEN  Refuse too few or too many arguments, with the call that is right.
%   wiregauge.internal.given(nargin, 1, Inf, 'run = wiregauge.exchange(address, ''Depth'', [1 2 4])').
%
%   Errors: wiregauge:argument.

if count < least
    wiregauge.internal.fail('wiregauge:argument', 'too few arguments; use: %s', form);
elseif count > most
    wiregauge.internal.fail('wiregauge:argument', 'too many arguments; use: %s', form);
end
end
