function words = flags(given)
%FLAGS  Options of M-code as flags of the wiregauge command.
%   words = wiregauge.internal.flags({'In', [48 1000], 'KeepData', true}) returns {'--in', '48,1000', '--keep-data'}. The names are
%   the flags' in CamelCase, so every flag can be given, those of later versions too. Values:
%
%     numbers    joined by commas: [48 1000] is 48,1000; those of flags that take a time are seconds
%     text       as it is: '2s', '48,100,500..8000:500'
%     true       the flag alone; false: no flag
%     a cell     the flag once for each element: {'p99<2ms', 'lost<0.1%'}
%
%   Errors: wiregauge:argument for anything else.

wiregauge.internal.names(given);
words = {};
for k = 1:2:numel(given)
    name = char(given{k});
    if any(name >= 'a' & name <= 'z') % PID is a word of its own.
        name = [lower(name(1)), regexprep(name(2:end), '([A-Z])', '-$1')];
    end
    flag = ['--', strrep(lower(name), '_', '-')];
    value = given{k + 1};
    if islogical(value) && isscalar(value)
        if value
            words{end + 1} = flag; %#ok<AGROW>
        end
        continue
    end
    if isa(value, 'string')
        value = cellstr(value);
    elseif ~iscell(value)
        value = {value};
    end
    for each = 1:numel(value)
        words(end + 1:end + 2) = {flag, word(flag, value{each})};
    end
end
end

function text = word(flag, value)
if ischar(value) && size(value, 1) == 1
    text = value;
elseif isnumeric(value) && isreal(value) && ~isempty(value) && all(isfinite(value(:)))
    form = '%.15g';
    value = double(value(:)');
    if takes_time(flag)
        form = '%.0fns';
        value = value * 1e9;
    end
    text = strjoin(arrayfun(@(one) sprintf(form, one), value, 'UniformOutput', false), ',');
else
    error('wiregauge:argument', 'the value of %s is a %s of %s; it takes numbers, text, true or a cell of these', flag, ...
        class(value), mat2str(size(value)));
end
end

function answer = takes_time(flag)
% Not those that take a number or a time, such as --warmup: there a number is a number.
answer = any(strcmp(flag, {'--duration', '--settle', '--hold', '--interval', '--timeout', '--below', '--period', '--deadline', ...
    '--jitter', '--begin', '--end', '--budget', '--idle'}));
end
