function options = pairs(given, defaults)
%PAIRS  Options given as 'Name', value, ... over their defaults.
%   options = wiregauge.internal.pairs(given, defaults) returns the struct defaults with the fields that the cell array given
%   names; the case of names does not matter.
%
%   Errors: wiregauge:argument for a name that is none, or without a value.

options = defaults;
names = fieldnames(defaults);
wiregauge.internal.names(given);
for k = 1:2:numel(given)
    known = strcmpi(char(given{k}), names);
    if ~any(known)
        wiregauge.internal.fail('wiregauge:argument', 'unknown option "%s"; options: %s', char(given{k}), strjoin(names', ', '));
    end
    value = given{k + 1};
    if isa(value, 'string')
        value = char(value);
    end
    options.(names{known}) = value;
end
end
