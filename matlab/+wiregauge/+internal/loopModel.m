function [words, tidy] = loopModel(given)
%LOOPMODEL  The model of a control loop as words of the wiregauge command.
%   [words, tidy] = wiregauge.internal.loopModel(given) takes the arguments of wiregauge.control behind the run: plant, controller
%   and options. What no flag can carry goes to a file, which is deleted when tidy is cleared.
%
%   Errors: wiregauge:argument.

tidy = [];
[systems, options] = parted(given);
while ~isempty(systems) && isempty(systems{end})
    systems(end) = [];
end
[keys, words, pid] = sorted(options);
if numel(systems) == 2 && ~isempty(pid)
    wiregauge.internal.fail('wiregauge:argument', 'give a controller or ''PID'', not both');
end
names = {'plant', 'controller'};
for k = 1:numel(systems)
    [keys, words] = with_system(keys, words, systems{k}, names{k});
end
[keys, words] = with_pid(keys, words, pid);
names = fieldnames(keys);
if isempty(names)
    return
end
if any(strcmp(words, '--model'))
    wiregauge.internal.fail('wiregauge:argument', ...
        ['''Model'' is a file: beside it, plant and controller must be text; %s must be keys of it ' ...
        '(docs/control.md)'], strjoin(names', ', '));
end
pairs = cellfun(@(name) sprintf('  "%s": %s', name, keys.(name)), names', 'UniformOutput', false);
file = [tempname(), '.json'];
handle = fopen(file, 'w');
if handle < 0
    wiregauge.internal.fail('wiregauge:argument', 'cannot write the model to %s', file);
end
tidy = onCleanup(@() wiregauge.internal.removeFile(file));
fprintf(handle, '{\n%s\n}\n', strjoin(pairs, sprintf(',\n')));
fclose(handle);
words = [{'--model', file}, words];
end

function [keys, words] = with_system(keys, words, system, name)
if isa(system, 'string') && isscalar(system)
    system = char(system);
end
if ischar(system)
    words = [words, {['--', name], wiregauge.internal.text(system, ['the ', name])}];
    return
end
[keys.(name), step] = wiregauge.internal.loopSystem(system, name);
if ~isempty(step)
    words = with_period(words, step);
end
end

function [keys, words] = with_pid(keys, words, pid)
% No flag has the filter.
if ~isfield(keys, 'filter')
    if ~isempty(pid)
        words = [words, {['--pid=', sprintf('%.17g,%.17g,%.17g', pid)]}];
    end
    return
end
if isempty(pid)
    wiregauge.internal.fail('wiregauge:argument', 'Filter is that of ''PID'', which is not given');
end
keys.controller = ['{"pid": ', sprintf('[%.17g, %.17g, %.17g]', pid), ', "filter": ', keys.filter, '}'];
keys = rmfield(keys, 'filter');
end

function [systems, options] = parted(given)
% The options are pairs behind the systems: the first name is where they begin.
first = numel(given) + 1;
for k = 1:min(numel(given), 3)
    if is_name(given{k})
        first = k;
        break
    end
end
if first > 3
    wiregauge.internal.fail('wiregauge:argument', ...
        'expected plant, controller and options as pairs: (run, plant, controller, ''Period'', 6e-3)');
end
systems = given(1:first - 1);
options = given(first:end);
wiregauge.internal.names(options);
end

function found = is_name(value)
% A word of two letters or more is no transfer function in s or z.
found = (ischar(value) || (isa(value, 'string') && isscalar(value))) && ...
    ~isempty(regexp(char(value), '^[A-Za-z][A-Za-z0-9_]+$', 'once'));
end

function [keys, words, pid] = sorted(options)
% Keys of the model as JSON, flags, and the PID controller.
keys = struct();
words = {};
pid = [];
for k = 1:2:numel(options)
    name = lower(strrep(char(options{k}), '_', ''));
    value = options{k + 1};
    if isa(value, 'string')
        value = char(value);
    end
    switch name
        case 'pid'
            if ~isnumeric(value) || numel(value) ~= 3 || ~isreal(value) || ~all(isfinite(value(:)))
                wiregauge.internal.fail('wiregauge:argument', ...
                    'PID must be [K Ti Td]: gain, integral time and derivative time in seconds (0: none)');
            end
            pid = double(value);
        case 'filter'
            keys.filter = wiregauge.internal.loopRows(value, 'Filter');
        case {'period', 'deadline'}
            words = [words, {['--', name], seconds(value, char(options{k}))}]; %#ok<AGROW>
        case 'weights'
            keys.cost = fields(value, {'output', 'input', 'state'}, 'Weights');
        case 'limits'
            keys.limits = ['{"input": ', rows(value, 'Limits'), '}'];
        case 'noise'
            if isstruct(value)
                keys.noise = fields(value, {'input', 'process', 'measurement'}, 'Noise');
            else
                words = [words, wiregauge.internal.flags({'noise', value})]; %#ok<AGROW>
            end
        case 'model'
            words = [words, {'--model', wiregauge.internal.text(value, 'Model')}]; %#ok<AGROW>
        case {'onmiss', 'order', 'point', 'in', 'out', 'depth', 'require', 'figures'}
            if strcmp(name, 'onmiss')
                name = 'OnMiss';
            end
            words = [words, wiregauge.internal.flags({name, value})]; %#ok<AGROW>
        otherwise
            wiregauge.internal.fail('wiregauge:argument', ...
                ['unknown option "%s"; options: PID, Filter, Period, Deadline, OnMiss, Order, Noise, Weights, ' ...
                'Limits, Model, Point, In, Out, Depth, Require, Figures'], char(options{k}));
    end
end
end

function words = with_period(words, step)
% The sample time of a discrete controller is the period of the loop.
at = find(strcmp(words, '--period'), 1);
given = sprintf('%.0fns', step * 1e9);
if isempty(at)
    words = [words, {'--period', given}];
elseif ~isempty(regexp(words{at + 1}, '^\d+ns$', 'once')) && abs(sscanf(words{at + 1}, '%f') / (step * 1e9) - 1) > 1e-6
    wiregauge.internal.fail('wiregauge:argument', 'Period must be the sample time of the controller, %g s', step);
end
end

function text = seconds(value, name)
if isnumeric(value) && isscalar(value) && isreal(value) && isfinite(value) && value > 0
    text = sprintf('%.0fns', double(value) * 1e9);
elseif ischar(value)
    text = wiregauge.internal.text(value, name);
else
    wiregauge.internal.fail('wiregauge:argument', '%s must be above 0: seconds, or text such as ''6ms'', not %s', name, ...
        wiregauge.internal.described(value));
end
end

function json = fields(value, known, name)
if ~isstruct(value) || ~isscalar(value) || ~all(ismember(fieldnames(value), known))
    wiregauge.internal.fail('wiregauge:argument', '%s must be a struct with the fields %s', name, strjoin(known, ', '));
end
given = fieldnames(value);
parts = cellfun(@(one) sprintf('"%s": %s', one, wiregauge.internal.loopRows(value.(one), [name, '.', one])), given', ...
    'UniformOutput', false);
json = ['{', strjoin(parts, ', '), '}'];
end

function json = rows(value, name)
% Rows also of a single number.
json = wiregauge.internal.loopRows(value, name);
if isscalar(value)
    json = ['[[', json, ']]'];
end
end
