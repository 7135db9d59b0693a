function [json, step] = loopSystem(system, name)
%LOOPSYSTEM  A plant or a controller as JSON of the model file of `wiregauge control`.
%   [json, step] = wiregauge.internal.loopSystem(system, 'plant') takes {num, den}, {A, B, C} or {A, B, C, D}, a struct with these as
%   fields, an object (tf, zpk, ss), or the gain of a controller. step is the sample time of a discrete object in seconds, else [].
%
%   Errors: wiregauge:argument, which names the system.

variable = 's';
if strcmp(name, 'controller')
    variable = 'z';
end
step = [];
if isobject(system)
    [system, step] = of_object(system, name);
elseif isstruct(system)
    system = of_struct(system, name);
elseif isnumeric(system) && strcmp(name, 'controller')
    json = ['{"d": ', wiregauge.internal.loopRows(system, name), '}'];
    return
end
if ~iscell(system) || ~any(numel(system) == [2 3 4])
    wiregauge.internal.fail('wiregauge:argument', ...
        ['the %s must be a transfer function as text, {num, den}, {A, B, C} or {A, B, C, D}, a struct with ' ...
        'these fields, or tf, zpk or ss, not %s'], name, wiregauge.internal.described(system));
end
if numel(system) == 2
    json = ['"(', polynomial(system{1}, variable, [name, ' num']), ')/(', polynomial(system{2}, variable, [name, ' den']), ')"'];
    return
end
if numel(system) == 4 && isempty(system{1})
    json = ['{"d": ', wiregauge.internal.loopRows(system{4}, [name, '.D']), '}'];
    return
end
letters = 'abcd';
parts = cell(1, numel(system));
for k = 1:numel(system)
    parts{k} = sprintf('"%s": %s', letters(k), wiregauge.internal.loopRows(system{k}, [name, '.', upper(letters(k))]));
end
json = ['{', strjoin(parts, ', '), '}'];
end

function text = polynomial(coefficients, variable, name)
if ~isnumeric(coefficients) || ~isvector(coefficients) || ~isreal(coefficients) || ~all(isfinite(coefficients))
    wiregauge.internal.fail('wiregauge:argument', ...
        ['%s must be a row of finite coefficients, the highest power first; give several inputs or outputs as ' ...
        'a state space'], name);
end
highest = numel(coefficients) - 1;
terms = arrayfun(@(k) sprintf('(%.17g)*%s^%d', coefficients(k + 1), variable, highest - k), 0:highest, 'UniformOutput', false);
text = strjoin(terms, '+');
end

function parts = of_struct(system, name)
given = fieldnames(system);
matrices = {'A', 'B', 'C', 'D'};
if isscalar(system) && all(ismember({'num', 'den'}, given))
    parts = {system.num, system.den};
elseif isscalar(system) && all(ismember(matrices(1:3), given))
    parts = cellfun(@(letter) system.(letter), matrices(ismember(matrices, given)), 'UniformOutput', false);
else
    wiregauge.internal.fail('wiregauge:argument', ...
        'the %s as a struct must have the fields A, B, C (and D), or num and den; it has: %s', name, ...
        strjoin(given', ', '));
end
end

function [parts, step] = of_object(system, name)
if ~any(strcmp(class(system), {'tf', 'zpk', 'ss'}))
    wiregauge.internal.fail('wiregauge:argument', 'the %s must be tf, zpk or ss, not a %s', name, class(system));
end
step = [];
if strcmp(name, 'plant')
    if ~isct(system)
        wiregauge.internal.fail('wiregauge:argument', 'the plant must be in continuous time');
    end
elseif isct(system) && ~isstatic_gain(system)
    wiregauge.internal.fail('wiregauge:argument', ...
        'the controller must be in discrete time: c2d(controller, period, ''tustin'') converts it');
elseif ~isct(system)
    step = get(system, 'Ts');
    if step <= 0 % Not specified.
        step = [];
    end
end
if exist('OCTAVE_VERSION', 'builtin') == 0 && hasdelay(system)
    wiregauge.internal.fail('wiregauge:argument', ...
        'the %s has a delay: replace it with pade(system, order), or absorbDelay in discrete time', name);
end
if ~isa(system, 'ss') && isequal(size(system), [1 1])
    [num, den] = tfdata(system, 'v');
    parts = {num, den};
else
    [a, b, c, d] = ssdata(system);
    parts = {a, b, c, d};
end
end

function found = isstatic_gain(system)
found = isempty(pole(system));
end
