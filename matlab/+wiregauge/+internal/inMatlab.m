function text = inMatlab(text)
%INMATLAB  A text of the wiregauge program in the words of this package: options instead of flags, functions instead of commands.
%   text = wiregauge.internal.inMatlab(text) turns "use --depth 1 and --connect once" into "use 'Depth', 1 and 'Connect', 'once'", and
%   "wiregauge limits uart" into wiregauge.limits('uart'). Commands that the package has no function for stay: `wiregauge serve`.

functions = 'exchange|stream|loop|tune|explain|deadline|compare|control|report|limits';
words = ['(?:(?: |\n +(?=--|ADDRESS|RUN))(?:--[a-z][a-z0-9-]*(?:', gap(), anyValue(), ...
    ')?|[a-z]+://[^\s,;`''()]*|ADDRESS|RUN|FILE\.\w+|last|usb|uart|can|tcp|udp)(?![\w:]))*'];
[calls, between] = regexp(text, ['\<wiregauge (?:(?:', functions, ')\>(?!-)', words, '|[a-z][^`\n;,]*)'], 'match', 'split');
for k = 1:numel(calls)
    if ~isempty(regexp(calls{k}, ['^wiregauge (?:', functions, ')\>(?!-)'], 'once'))
        calls{k} = asCall(calls{k});
    end
end
text = joined(cellfun(@withOptions, between, 'UniformOutput', false), calls);
end

function text = withOptions(text)
% Flags in a sentence. A word behind one is its value if it is a number, quoted, or one of these.
values = ['''[^'']*''|(?<=--read )[\w:+-]*\d|\d(?:[\w.,:=%/]*\w)?|(?<=--protocol )(?:echo|lines|text|scpi|modbus|wiregauge)\>|' ...
    '(?<=--connect )(?:each|once)\>|(?<=--wait )(?:block|poll|spin)\>|(?<=--direction )(?:in|out|both)\>'];
[flags, between] = regexp(text, ['(?<![\w/''-])--[a-z][a-z0-9-]*[a-z0-9](?:', gap(), '(?:', values, '))?'], 'match', 'split');
for k = 2:numel(between) - 1
    if ~isempty(regexp(between{k}, '^( |\n +)$', 'once'))
        between{k} = [',', between{k}];
    end
end
text = joined(between, cellfun(@asPair, flags, 'UniformOutput', false));
end

function text = asCall(words)
% `wiregauge limits uart --baud 9600` as wiregauge.limits('uart', 'Baud', 9600).
parts = regexp(words, ['--[a-z][a-z0-9-]*(?:', gap(), anyValue(), ')?|\S+'], 'match');
places = {};
options = {};
for k = 3:numel(parts)
    word = parts{k};
    if strncmp(word, '--', 2)
        word = asPair(regexprep(word, '\n +', ' '));
        if isempty(strfind(word, ',')) %#ok<STREMP>
            word = [word, ', true']; %#ok<AGROW>
        end
        options{end + 1} = word; %#ok<AGROW>
    elseif strcmp(word, upper(word))
        places{end + 1} = lower(word); %#ok<AGROW>
    else
        places{end + 1} = ['''', word, '''']; %#ok<AGROW>
    end
end
if isempty(places) && ~isempty(options)
    % The function has no options without it.
    switch parts{2}
        case {'exchange', 'stream', 'tune'}
            places = {'address'};
        case 'loop'
            places = {'device'};
        case 'compare'
            places = {'before', 'after'};
        case {'explain', 'deadline', 'control', 'report'}
            places = {'run'};
    end
end
given = [places, options];
text = sprintf('wiregauge.%s', parts{2});
if ~isempty(given)
    text = sprintf('%s(%s)', text, strjoin(given, ', '));
end
end

function pattern = gap()
% Between a flag and its value. The program wraps its texts, also there.
pattern = '(?:[ =]|\n +)';
end

function pattern = anyValue()
pattern = '(?:''[^'']*''|\.\.\.|(?!--)[^\s;`''()]*[^\s,;:.`''()])';
end

function text = asPair(words)
% `--depth 1` as 'Depth', 1. What --json prints are the fields of the struct that a function returns.
if strcmp(words, '--json')
    text = 'an output argument';
    return
elseif strcmp(words, '--full')
    text = '''Full'', true';
    return
end
parts = regexp(words, '^(--[a-z0-9-]+)(?:([ =]|\n +)(.*))?$', 'tokens', 'once');
text = ['''', wiregauge.internal.option(parts{1}), ''''];
if numel(parts) < 3 || isempty(parts{3})
    return
end
between = strrep(parts{2}, '=', ' ');
value = parts{3};
if ~isempty(regexp(value, '^\d+(,\d+)+$', 'once'))
    value = ['[', strrep(value, ',', ' '), ']'];
elseif value(1) ~= '''' && isempty(regexp(value, '^\d+(\.\d+)?$', 'once'))
    value = ['''', value, ''''];
end
text = [text, ',', between, value];
end

function text = joined(between, parts)
% The texts with the parts in between.
both = [between; [parts, {''}]];
text = [both{:}];
end
