function names(given)
%NAMES  Hold a list of 'Name', value, ... to its form.
%   wiregauge.internal.names(given) ends in the error wiregauge:argument unless every odd element of the cell array is a name and
%   has a value behind it.
%
%   Octave takes f(In=48) for an assignment and passes on the 48 alone, so that is what a number in a name's place means.

for k = 1:2:numel(given)
    is_text = (ischar(given{k}) && size(given{k}, 1) == 1) || (isa(given{k}, 'string') && isscalar(given{k}));
    if ~is_text
        wiregauge.internal.fail('wiregauge:argument', ['options must be pairs: ''In'', [48 1000]. The name of option %d is %s. ' ...
            '(In=[48 1000] works only in MATLAB R2021a and later, not in Octave.)'], (k + 1) / 2, wiregauge.internal.described(given{k}));
    elseif isempty(regexp(char(given{k}), '^[A-Za-z][A-Za-z0-9_]*$', 'once'))
        wiregauge.internal.fail('wiregauge:argument', 'options must be pairs: ''In'', [48 1000]. ''%s'' is not the name of an option', ...
            char(given{k}));
    elseif k == numel(given)
        wiregauge.internal.fail('wiregauge:argument', 'the option "%s" has no value', char(given{k}));
    end
end
end
