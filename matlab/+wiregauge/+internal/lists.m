function value = lists(value)
%LISTS  Lists of one type each, also if they are empty: jsondecode makes [] of every empty list.
%   value = wiregauge.internal.lists(value) takes the struct of a command. Lists of texts become cell columns, empty lists of objects
%   empty struct arrays. The texts, and those that are single reasons, are in the words of this package (wiregauge.internal.inMatlab).

if iscell(value)
    value = cellfun(@wiregauge.internal.lists, value, 'UniformOutput', false);
elseif isstruct(value)
    for name = fieldnames(value)'
        for k = 1:numel(value)
            value(k).(name{1}) = member(name{1}, value(k).(name{1}));
        end
    end
end
end

function value = member(name, value)
is_empty = isempty(value) && isa(value, 'double');
switch name
    case {'missed', 'missed_limits', 'require', 'why', 'why_not', 'reason', 'words', 'notes', 'met', 'undecided'}
        if is_empty
            value = cell(0, 1);
        elseif iscellstr(value)
            value = cellfun(@wiregauge.internal.inMatlab, value(:), 'UniformOutput', false);
        elseif ischar(value)
            value = wiregauge.internal.inMatlab(value);
        end
    case {'command', 'missing_in'} % Not words of this package.
        if is_empty
            value = cell(0, 1);
        end
    case {'points', 'probes', 'front', 'failed', 'set_aside', 'constraints', 'models', 'predictions', 'figures', 'fail_if', 'changed', ...
            'exchanges', 'flows', 'endpoints', 'others', 'periods', 'settings', 'warnings', 'residuals', 'saturation', 'before', ...
            'after', 'unmatched', 'curve'}
        if is_empty
            value = struct([]);
        end
end
if isstruct(value) || iscell(value)
    value = wiregauge.internal.lists(value);
end
end
