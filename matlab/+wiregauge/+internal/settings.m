function given = settings(given, option)
%SETTINGS  Options whose structs are settings of the program, as text.
%   given = wiregauge.internal.settings(given, 'predict') turns struct('in', 3000, 'depth', 3), the value of the option, alone or in
%   a cell array, into 'in=3000,depth=3'.

wiregauge.internal.names(given);
for k = 1:2:numel(given)
    if ~strcmpi(given{k}, option)
        continue
    end
    values = given{k + 1};
    if isstruct(values)
        values = arrayfun(@(one) one, values, 'UniformOutput', false);
    end
    if iscell(values)
        is_setting = cellfun(@isstruct, values);
        values(is_setting) = cellfun(@written, values(is_setting), 'UniformOutput', false);
    end
    given{k + 1} = values;
end
end

function words = written(setting)
names = fieldnames(setting);
parts = cell(1, numel(names));
for k = 1:numel(names)
    value = setting.(names{k});
    if isnumeric(value) && isscalar(value)
        value = sprintf('%.15g', value);
    end
    parts{k} = [names{k}, '=', wiregauge.internal.text(value, ['the setting ', names{k}])];
end
words = strjoin(parts, ',');
end
