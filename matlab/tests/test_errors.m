function tests = test_errors()
%TEST_ERRORS  Errors of every function of the package: what was called, what is wrong with it, in the words of MATLAB.

tests = {@every_function_refuses_wrong_arguments_in_the_words_of_the_package, @every_method_of_a_device_refuses_wrong_arguments, ...
    @errors_of_the_program_name_options_and_functions, @numbers_that_no_option_can_have_are_refused, ...
    @texts_of_the_program_are_translated, @what_a_function_prints_names_options_too, @a_device_that_this_program_opened_before_is_to_be_closed, ...
    @a_reply_of_a_message_framing_is_whole, @lists_are_of_one_type_also_if_they_are_empty, ...
    @every_list_that_the_program_prints_is_known, ...
    @options_without_effect_on_a_device_are_refused, @errors_name_the_argument_and_its_value, @a_call_that_makes_no_sense_measures_nothing, ...
    @a_query_of_several_lines_is_refused, @an_undecided_condition_is_printed, @ambiguous_names_list_a_run_on_each_line};
end

function values = wrong()
% What may stand where an address, a run, a number or a text is expected.
values = {[], '', {}, {1}, struct(), NaN, Inf, -1, 7, 1.5, true, 'no such thing', ['ab'; 'cd'], @sin, zeros(2, 2), uint8(3), {{}}, 1i};
end

function in_plain_words(call, name)
% Ends in an error unless the call does so in the package's own way.
try
    evalc('call()');
catch problem
    said = sprintf('%s: %s', problem.identifier, problem.message);
    assert(strncmp(problem.identifier, 'wiregauge:', 10), [func2str(call), ' ends in ', said]);
    assert(strncmp(problem.message, [name, ': '], numel(name) + 2), [func2str(call), ' ends in ', said]);
    assert(numel(problem.message) > numel(name) + 12, said);
    for foreign = {'error:', 'wiregauge_mex', '--', 'Usage:', 'undefined', 'nonconformant', 'called with'}
        assert(isempty(strfind(problem.message, foreign{1})), [func2str(call), ' ends in ', said]);
    end
    return
end
error('%s ends in no error', func2str(call));
end

function every_function_refuses_wrong_arguments_in_the_words_of_the_package()
names = {'exchange', 'stream', 'loop', 'tune', 'loadRun', 'explain', 'deadline', 'control', 'compare', 'report', 'plotHistogram', ...
    'plotTrt', 'plotThroughput', 'savePicture', 'open', 'Device'};
pure = {'check', 'compare', 'connect', 'decode', 'draw', 'encode', 'figures', 'hello', 'measure', 'pattern', 'table'};
names = [names, strcat('pure.', pure)];
for k = 1:numel(names)
    name = ['wiregauge.', names{k}];
    called = name;
    if strcmp(names{k}, 'Device')
        called = 'dev.Device';
    end
    action = str2func(name);
    in_plain_words(@() action(), called);
    for value = wrong()
        if any(strcmp(names{k}, {'pure.check', 'pure.decode', 'pure.encode', 'pure.pattern', 'Device'}))
            continue
        end
        in_plain_words(@() action(value{1}), called);
    end
    in_plain_words(@() action('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), called);
end
for k = 1:numel(names)
    % An option without a value, a name that is none, and Octave's In=48.
    if any(strcmp(names{k}, {'exchange', 'stream', 'loop', 'tune', 'explain', 'deadline', 'report', 'open', 'pure.connect', 'pure.compare'}))
        action = str2func(['wiregauge.', names{k}]);
        for options = {{'Depth'}, {48}, {'NoSuchOption', 1}, {'two words', 1}, {{}, 1}, {'', 1}, {NaN, 1}}
            in_plain_words(@() action('tcp://127.0.0.1:1', options{1}{:}), ['wiregauge.', names{k}]);
        end
    end
end
for given = {{'firewire'}, {'usb', 'Speed'}, {'usb', 'Speed', 'warp'}, {'usb', 'Speed', NaN}, {7}, {'usb', 7}, {'usb', 'Baud', 9600}, {{}}}
    in_plain_words(@() wiregauge.limits(given{1}{:}), 'wiregauge.limits');
end
end

function every_method_of_a_device_refuses_wrong_arguments()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address, 'Timeout', 0.2);
takes_data = {'exchange', 'exchangeMany', 'submit', 'write', 'writeStream'};
takes_numbers = {'readStream', 'setTimeout'};
takes_text = {'query', 'writeread', 'writeline'};
takes_nothing = {'read', 'readline', 'nextReply', 'outstanding', 'about'};
for name = [takes_data, takes_numbers, takes_text]
    in_plain_words(@() dev.(name{1})(), ['dev.', name{1}]);
end
for name = [takes_data, takes_numbers, takes_text, takes_nothing]
    in_plain_words(@() dev.(name{1})(1, 2, 3, 4, 5), ['dev.', name{1}]);
end
for name = takes_data
    for value = {1, NaN, {1}, struct(), ['ab'; 'cd'], true, @sin}
        in_plain_words(@() dev.(name{1})(value{1}), ['dev.', name{1}]);
    end
end
for name = takes_numbers
    for value = {NaN, -1, 'x', {}, [], struct(), [1 2], Inf, 0}
        in_plain_words(@() dev.(name{1})(value{1}), ['dev.', name{1}]);
    end
end
for name = takes_text
    in_plain_words(@() dev.(name{1})('*IDN?'), ['dev.', name{1}]);
end
in_plain_words(@() dev.nextReply(), 'dev.nextReply');
in_plain_words(@() dev.read(), 'dev.read');
in_plain_words(@() dev.readline(), 'dev.readline');
message = fails_with('wiregauge:argument', @() dev.exchange(uint8(1), NaN));
assert(~isempty(strfind(message, 'not NaN')), message);
dev.close();
for name = [takes_data, {'about', 'outstanding', 'nextReply', 'read'}]
    given = {uint8(1)};
    if ~any(strcmp(name, takes_data))
        given = {};
    end
    message = fails_with('wiregauge:closed', @() dev.(name{1})(given{:}));
    assert(strncmp(message, ['dev.', name{1}, ': the device is closed'], 23 + numel(name{1})), message);
end
end

function errors_of_the_program_name_options_and_functions()
pairs = {{'Depth', 0}, 'Depth must be at least 1, not 0'; {'Dept', 1}, 'unknown option "Dept"; did you mean "Depth"?'; ...
    {'In', 48.5}, 'In: `48.5` is not a valid size'; {'Count', 'lots'}, 'Count: `lots` is not'; ...
    {'Wait', 'long'}, 'Wait must be one of ''block'', ''poll'', ''spin'', not ''long'''; ...
    {'Depth', 2, 'Connect', 'each'}, '''Connect'', ''each'' requires ''Depth'', 1'; {'Quiet', 3}, 'Quiet must be true or false, not ''3'''; ...
    {'In', 1}, 'use a larger size, or ''Protocol'', ''echo'''};
for k = 1:size(pairs, 1)
    message = fails_with('wiregauge:usage', @() wiregauge.exchange('tcp://127.0.0.1:1', pairs{k, 1}{:}));
    assert(~isempty(strfind(message, pairs{k, 2})), message);
end
message = fails_with('wiregauge:usage', @() wiregauge.tune('tcp://127.0.0.1:1'));
assert(message, 'wiregauge.tune: missing: ''Maximise'' or ''Minimise''');
wiregauge.exchange('null://', 'Out', 64, 'Count', 20, 'NoCalibration', true);
message = fails_with('wiregauge:usage', @() wiregauge.deadline('last'));
assert(~isempty(strfind(message, 'such as ''Period'', ''1ms''')), message);
message = fails_with('wiregauge:usage', @() wiregauge.report('last', 'Format', 'gif'));
assert(message, 'wiregauge.report: Format must be one of ''svg'', ''png'', not ''gif''');
message = fails_with('wiregauge:link', @() wiregauge.exchange('tcp://127.0.0.1:1'));
assert(strncmp(message, 'wiregauge.exchange: cannot connect to tcp://127.0.0.1:1', 55), message);
assert(~isempty(strfind(message, 'on the device: wiregauge serve tcp://127.0.0.1:1')), message);
end

function numbers_that_no_option_can_have_are_refused()
pairs = {{'In', NaN}, 'In must be finite, not NaN'; {'In', [48 Inf]}, 'In must be finite, not Inf'; {'In', []}, 'not an empty double'; ...
    {'Depth', -1}, 'Depth must not be negative: -1'; {'Duration', 0}, 'Duration must be above 0'; {'Timeout', -1}, 'Timeout must not be negative'; ...
    {'In', struct()}, 'not a struct (1-by-1)'; {'In', 1i}, 'not a double (1-by-1)'; {'Json', true}, 'Json is no option here'};
for k = 1:size(pairs, 1)
    message = fails_with('wiregauge:argument', @() wiregauge.exchange('tcp://127.0.0.1:1', pairs{k, 1}{:}));
    assert(strncmp(message, 'wiregauge.exchange: ', 20), message);
    assert(~isempty(strfind(message, pairs{k, 2})), message);
end
% A controller may have negative gains.
assert(wiregauge.internal.flags({'PID', [-1 0 0.5]}), {'--pid=-1,0,0.5'});
end

function texts_of_the_program_are_translated()
pairs = {'use --depth 1, or --connect once', 'use ''Depth'', 1, or ''Connect'', ''once'''; ...
    'Try --in 64,512,4k --depth 1,4.', 'Try ''In'', ''64,512,4k'', ''Depth'', [1 4].'; ...
    'this run has no calibration (--no-calibration)', 'this run has no calibration (''NoCalibration'')'; ...
    '--baud requires `wiregauge limits uart`', '''Baud'' requires `wiregauge.limits(''uart'')`'; ...
    'see `wiregauge exchange ADDRESS --in 48 --no-store`', 'see `wiregauge.exchange(address, ''In'', 48, ''NoStore'', true)`'; ...
    'measure  wiregauge exchange null:// --out 64 --depth 1', 'measure  wiregauge.exchange(''null://'', ''Out'', 64, ''Depth'', 1)'; ...
    'start `wiregauge serve pty: --bus full-speed` there', 'start `wiregauge serve pty: --bus full-speed` there'; ...
    'wiregauge explain FILE.pcapng --endpoint ...', 'wiregauge.explain(''FILE.pcapng'', ''Endpoint'', ''...'')'; ...
    'p99<2ms: 5 ms at depth 3', 'p99<2ms: 5 ms at depth 3'; 'tcp://a--b:1 and /dev/x--y', 'tcp://a--b:1 and /dev/x--y'; ...
    sprintf('are required (--count\n  1100)'), sprintf('are required (''Count'',\n  1100)'); ...
    sprintf('use --depth 1 and\n  --count 5'), sprintf('use ''Depth'', 1 and\n  ''Count'', 5'); ...
    sprintf('see `wiregauge exchange ADDRESS --in\n  48 --depth\n  1,2`'), 'see `wiregauge.exchange(address, ''In'', 48, ''Depth'', [1 2])`'; ...
    'all tables: --full; about', 'all tables: ''Full'', true; about'; ...
    'start `wiregauge exchange --protocol echo`', 'start `wiregauge.exchange(address, ''Protocol'', ''echo'')`'; ...
    'see `wiregauge deadline --period 1ms`', 'see `wiregauge.deadline(run, ''Period'', ''1ms'')`'; ...
    'such as --read holding:0+10', 'such as ''Read'', ''holding:0+10'''; ...
    'such as --send ''*IDN?\n''', 'such as ''Send'', ''*IDN?\n'''; '', ''};
for k = 1:size(pairs, 1)
    assert(wiregauge.internal.inMatlab(pairs{k, 1}), pairs{k, 2});
end
assert(wiregauge.internal.errorText(sprintf('error: the argument ''--count <N>'' cannot be used with ''--duration <TIME>''\n\nUsage: x')), ...
    '''Count'' cannot be used with ''Duration''');
for name = {'In', 'SubjectTo', 'PID', 'NoCalibration', 'HostLoad'}
    words = wiregauge.internal.flags({name{1}, 1});
    assert(wiregauge.internal.option(regexprep(words{1}, '=.*', '')), name{1});
end
end

function what_a_function_prints_names_options_too()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'Count', 30);
said = {run.text, evalc('wiregauge.exchange(address, ''Count'', 20)'), evalc('wiregauge.limits()'), evalc('wiregauge.explain(run)'), ...
    evalc('wiregauge.deadline(run, ''Period'', 1, ''Beyond'', 1e6)'), evalc('wiregauge.compare(run, run)'), ...
    evalc('wiregauge.tune(address, ''Minimise'', ''trt'', ''In'', 48, ''Depth'', 1, ''Count'', 20)')};
for k = 1:numel(said)
    assert(isempty(regexp(said{k}, '(^|[ (])--[a-z]', 'once')), said{k});
end
assert(~isempty(strfind(said{end}, ['measure  wiregauge.exchange(''', address, ''', ''Out'', 16, ''In'', 48, ''Depth'', 1)'])), said{end});
end

function a_device_that_this_program_opened_before_is_to_be_closed()
[address, stop] = responder('pty:');
dev = wiregauge.open(address);
message = fails_with('wiregauge:busy', @() wiregauge.open(address));
assert(strncmp(message, 'wiregauge.open: ', 16), message);
assert(~isempty(strfind(message, 'this process')), message);
assert(~isempty(strfind(message, 'close it there first')), message);
assert(isempty(strfind(message, 'wait until that process ends')), message);
dev.close();
again = wiregauge.open(address);
assert(again.exchange(uint8(7)), uint8(7));
end

function a_reply_of_a_message_framing_is_whole()
% read of serialport and visadev returns as many values as were asked for.
[address, stop] = responder('tcp://127.0.0.1:0', '--protocol', 'scpi');
for options = {{'Protocol', 'scpi'}, {'Framing', 'terminator'}}
    meter = wiregauge.open(address, options{1}{:});
    meter.writeline('*IDN?');
    message = fails_with('wiregauge:argument', @() meter.read(5));
    assert(~isempty(strfind(message, 'omit the number of bytes')), message);
    assert(strncmp(char(meter.read()'), 'wiregauge,', 10));
    message = fails_with('wiregauge:argument', @() meter.exchange('*IDN?', 5));
    assert(~isempty(strfind(message, 'dev.exchange: ')), message);
    fails_with('wiregauge:argument', @() meter.submit('*IDN?', 5));
end
meter = wiregauge.open(address, 'Framing', 'raw');
meter.write(uint8(sprintf('*IDN?\n')));
assert(char(meter.read(5)'), 'wireg');
assert(char(meter.read(4)'), 'auge');
meter = wiregauge.open(address, 'Framing', 'fixed', 'ReplyBytes', 9);
assert(char(meter.exchange(sprintf('*IDN?\n'), 9)'), 'wiregauge');
fails_with('wiregauge:argument', @() meter.exchange(sprintf('*IDN?\n'), 5));
end

function lists_are_of_one_type_also_if_they_are_empty()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '2ms');
none = cell(0, 1);
run = wiregauge.exchange(address, 'Count', 40, 'Require', {'max<1us', 'max3<1us'});
assert(size(run.missed), [2 1]);
assert(iscellstr(run.missed));
loaded = wiregauge.loadRun('last');
assert(loaded.missed, none);
assert(~isempty(strfind(evalc('run'), ['limit missed: ', run.missed{2}])));
met = wiregauge.exchange(address, 'Count', 20);
assert(met.missed, none);
compared = wiregauge.compare(run, run);
assert(compared.missed, none);
assert(iscellstr(compared.notes));
missed = wiregauge.deadline(run, 'Period', 1);
assert({missed.missed_limits, missed.require}, {none, none});
loop = wiregauge.control(run, '1000/(s^2+s)', [], 'PID', [0.96 0 0.049], 'Period', 6e-3);
assert({loop.missed_limits, loop.require}, {none, none});
required = wiregauge.control(run, '1000/(s^2+s)', [], 'PID', [0.96 0 0.049], 'Period', 6e-3, 'Require', 'control.cost<0.001');
assert(size(required.missed_limits), [1 1]);
why = wiregauge.explain(run);
assert(isstruct(why.models(1).predictions) && isempty(why.models(1).predictions));
assert(~isempty(strfind(why.models(1).why_not, '''In''')), why.models(1).why_not);
assert(iscellstr(why.models(1).words));
tuned = wiregauge.tune(address, 'Minimise', 'trt', 'In', 48, 'Depth', 1, 'Count', 20);
assert(tuned.missed, none);
assert(isstruct(tuned.failed) && isempty(tuned.failed));
assert(iscellstr(tuned.why));
media = wiregauge.limits();
assert(all(arrayfun(@(one) iscellstr(one.notes), media)));
end

function every_list_that_the_program_prints_is_known()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '200us');
first = wiregauge.exchange(address, 'In', [48 1000], 'Depth', [1 4], 'Count', 400);
second = wiregauge.exchange(address, 'In', [48 2000], 'Depth', [1 4], 'Count', 400, 'Interval', 1e-3);
stream = wiregauge.stream(address, 'Duration', '100ms');
[first, second, stream] = deal(first.directory, second.directory, stream.directory);
commands = {{'explain', first}, {'explain', second}, {'explain', stream}, {'compare', first, second, '--fail-if', 'p50>1%worse'}, ...
    {'deadline', first, '--period', '1ms', '--require', 'longest<1'}, {'limits', 'usb'}, {'runs'}, ...
    {'control', second, '--plant', '1/s', '--pid', '1,0,0', '--require', 'held'}, ...
    {'tune', address, '--minimise', 'p50', '--in', '48', '--depth', '1,2', '--count', '30', '--subject-to', 'p99<1ns'}};
found = 0;
for k = 1:numel(commands)
    [~, output] = wiregauge.internal.command([commands{k}, {'--json'}]);
    % An empty list has no type in JSON: lists knows it by its name.
    for list = regexp(output, '"(\w+)":\s*\[\s*("|\{)', 'tokens')
        name = list{1}{1};
        value = wiregauge.internal.lists(struct(name, []));
        assert(iscell(value.(name)) || isstruct(value.(name)), [commands{k}{1}, ' prints a list ', name]);
        assert(iscell(value.(name)), list{1}{2} == '"');
        found = found + 1;
    end
end
assert(found > 20);
end

function options_without_effect_on_a_device_are_refused()
[address, stop] = responder('tcp://127.0.0.1:0');
pairs = {{'Baud', 9600}, 'Baud requires a serial line'; {'Terminator', 'x'}, 'Terminator requires ''Framing'', ''terminator'' or ''Protocol'', ''text'''; ...
    {'ReplyBytes', 8}, 'ReplyBytes requires ''Framing'', ''fixed'''; {'Framing', 'raw', 'BigEndian', true}, 'BigEndian requires ''Framing'', ''length'''; ...
    {'Protocol', 'scpi', 'Terminator', 'x'}, 'Terminator requires'; {'Framing', 'fixed', 'LengthBytes', 2}, 'LengthBytes requires'};
for k = 1:size(pairs, 1)
    message = fails_with('wiregauge:argument', @() wiregauge.open(address, pairs{k, 1}{:}));
    assert(~isempty(strfind(message, ['wiregauge.open: ', pairs{k, 2}])), message);
end
message = fails_with('wiregauge:argument', @() wiregauge.open('serial:///dev/none', 'QuickAck', true));
assert(~isempty(strfind(message, 'QuickAck requires tcp://')), message);
% What is the default changes nothing.
dev = wiregauge.open(address, 'Baud', 0, 'QuickAck', false);
assert(dev.isOpen());
end

function errors_name_the_argument_and_its_value()
[address, stop] = responder('tcp://127.0.0.1:0');
pairs = {{'Framing', 'length', 'LengthBytes', 3}, 'LengthBytes must be 1, 2 or 4, not 3'; ...
    {'Framing', 'fixed'}, '''Framing'', ''fixed'' requires ''ReplyBytes'''; {'Timeout', -2}, 'not -2'; {'Timeout', 'x'}, 'not ''x'''; ...
    {'Framing', 'terminator', 'Terminator', ''}, 'Terminator must be 1 to 8 bytes, not 0'};
for k = 1:size(pairs, 1)
    message = fails_with('wiregauge:argument', @() wiregauge.open(address, pairs{k, 1}{:}));
    assert(~isempty(strfind(message, pairs{k, 2})), message);
end
dev = wiregauge.open(address);
message = fails_with('wiregauge:argument', @() dev.setTimeout(0));
assert(~isempty(strfind(message, 'at most 86400, not 0')), message);
message = fails_with('wiregauge:usage', @() dev.write(uint8(1)));
assert(~isempty(strfind(message, 'use dev.exchange')), message);
run = wiregauge.exchange('null://', 'Out', 64, 'Depth', 1, 'Count', 30, 'NoCalibration', true);
message = fails_with('wiregauge:usage', @() wiregauge.exchange('null://', 'Out', 64, 'Require', {'p99<2ms', 3}));
assert(~isempty(strfind(message, 'Require ''3'': ')), message);
message = fails_with('wiregauge:usage', @() wiregauge.explain(run, 'Predict', struct('out', 100, 'depth', 0)));
assert(~isempty(strfind(message, 'Predict ''out=100,depth=0'': the minimum is 1')), message);
for value = {5, 0, 1.5}
    message = fails_with('wiregauge:argument', @() wiregauge.plotHistogram(run, 'Points', value{1}));
    assert(~isempty(strfind(message, sprintf('not %g', value{1}))), message);
end
message = fails_with('wiregauge:argument', @() wiregauge.plotHistogram(run, 'Points', [1 1]));
assert(~isempty(strfind(message, 'Points has 1 more than once')), message);
message = fails_with('wiregauge:argument', @() wiregauge.plotHistogram(run, 'Log', 'yes'));
assert(~isempty(strfind(message, 'Log must be true or false, not ''yes''')), message);
message = fails_with('wiregauge:argument', @() wiregauge.report(run, 'Figures', 3));
assert(~isempty(strfind(message, 'Figures must be text, not 3')), message);
assert(~isfolder('3'));
end

function a_call_that_makes_no_sense_measures_nothing()
directory = tempname();
for option = {'NoStore', 'Quiet'}
    message = fails_with('wiregauge:argument', @() wiregauge.exchange('null://', 'Out', 64, 'Store', directory, option{1}, true));
    assert(~isempty(strfind(message, ['omit ', option{1}])), message);
end
assert(~isfolder(directory));
end

function a_query_of_several_lines_is_refused()
[address, stop] = responder('tcp://127.0.0.1:0', '--protocol', 'scpi');
meter = wiregauge.open(address, 'Protocol', 'scpi');
message = fails_with('wiregauge:argument', @() meter.query(sprintf('*IDN?\n*IDN?')));
assert(~isempty(strfind(message, 'dev.query: a query has one message')), message);
fails_with('wiregauge:argument', @() meter.writeread(sprintf('*IDN?\n*IDN?')));
assert(strncmp(meter.query(sprintf('*IDN?\n')), 'wiregauge', 9));
end

function an_undecided_condition_is_printed()
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 30, 'NoCalibration', true);
said = evalc('wiregauge.compare(run, run, ''FailIf'', ''p99 > 5% worse'')');
assert(~isempty(strfind(said, 'condition undecided: p99 > 5% worse: ')), said);
end

function ambiguous_names_list_a_run_on_each_line()
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 30, 'NoCalibration', true);
wiregauge.exchange('null://', 'Out', 64, 'Count', 30, 'NoCalibration', true);
for command = {@wiregauge.loadRun, @wiregauge.report}
    try
        command{1}('20');
        error('an ambiguous name was accepted');
    catch problem
        assert(~isempty(regexp(problem.message, '\n  20[^\n,]*\n  20[^\n,]*\n', 'once')), problem.message);
    end
end
end
