function words = flags(given)
%FLAGS  Options of M-code as flags of the wiregauge command.
%   words = wiregauge.internal.flags({'In', [48 1000], 'KeepData', true}) returns {'--in=48,1000', '--keep-data'}. The names are
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
    flag = flagOf(char(given{k}));
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
        words{end + 1} = [flag, '=', word(flag, value{each})]; %#ok<AGROW>
    end
end
end

function flag = flagOf(name)
if any(name >= 'a' & name <= 'z') % PID is a word of its own.
    name = [lower(name(1)), regexprep(name(2:end), '([A-Z])', '-$1')];
end
flag = ['--', strrep(lower(name), '_', '-')];
if any(strcmp(flag, {'--json', '--help', '--version'}))
    wiregauge.internal.fail('wiregauge:argument', '%s is no option here: with an output the function returns the figures', ...
        wiregauge.internal.option(flag));
end
end

function text = word(flag, value)
name = wiregauge.internal.option(flag);
if ischar(value) && size(value, 1) == 1 && ~isempty(value)
    text = value;
    return
end
if any(strcmp(flag, files()))
    wiregauge.internal.fail('wiregauge:argument', '%s must be text, not %s', name, wiregauge.internal.described(value));
end
if ~isnumeric(value) || ~isreal(value) || isempty(value)
    wiregauge.internal.fail('wiregauge:argument', '%s must be numbers, text, true or false, or a cell array of these, not %s', name, ...
        wiregauge.internal.described(value));
end
value = full(double(value(:)'));
if ~all(isfinite(value))
    wiregauge.internal.fail('wiregauge:argument', '%s must be finite, not %g', name, value(find(~isfinite(value), 1)));
end
if any(value < 0) && ~any(strcmp(flag, {'--pid', '--plant', '--controller', '--noise', '--limits', '--step'}))
    wiregauge.internal.fail('wiregauge:argument', '%s must not be negative: %g', name, value(find(value < 0, 1)));
end
form = '%.15g';
if any(strcmp(flag, times()))
    if any(value == 0) && any(strcmp(flag, {'--duration', '--interval', '--timeout', '--period', '--deadline', '--budget'}))
        wiregauge.internal.fail('wiregauge:argument', '%s must be above 0: seconds, or text such as ''1ms''', name);
    end
    form = '%.0fns';
    value = value * 1e9;
end
text = strjoin(arrayfun(@(one) sprintf(form, one), value, 'UniformOutput', false), ',');
end

function flags = files()
% A number would be the name of a file.
flags = {'--csv', '--figure', '--figures', '--model', '--output', '--record', '--send-file', '--store'};
end

function flags = times()
% Not those that take a number or a time, such as --warmup: there a number is a number.
flags = {'--duration', '--settle', '--hold', '--interval', '--timeout', '--below', '--period', '--deadline', '--jitter', '--begin', ...
    '--end', '--budget', '--idle', '--st-min'};
end
