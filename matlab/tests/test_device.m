function tests = test_device()
%TEST_DEVICE  Open devices through the MEX file: exchanges, batches, pipelines, framings, and what goes wrong.

tests = {@a_message_comes_back_over_tcp, @a_message_comes_back_over_a_serial_line, @a_reply_has_the_size_that_is_asked_for, ...
    @characters_are_sent_as_their_bytes, @a_batch_comes_back_in_order_at_every_depth, @requests_of_a_batch_may_differ_in_size, ...
    @depth_shortens_a_batch_on_a_modelled_bus, @requests_are_submitted_ahead_and_answers_taken_in_order, @times_are_told, ...
    @the_device_says_who_it_is, @an_instrument_ends_its_lines, @an_instrument_answers_queries, ...
    @a_line_is_written_and_a_line_is_read, @text_beyond_ascii_and_other_ends_pass, @what_is_not_text_is_refused, @an_echo_that_nobody_here_wrote_answers_in_each_framing, ...
    @a_closed_device_says_so, @a_device_closes_when_it_is_cleared, @silence_is_a_timeout, @an_interrupt_lets_go, ...
    @wrong_types_and_shapes_are_refused, @wrong_options_are_refused, @numbers_of_no_device_are_refused, ...
    @a_device_that_is_not_there_is_told, @two_thousand_openings_leave_nothing_behind, @bytes_flow_in_and_out, ...
    @a_run_is_loaded_alike_with_and_without_the_mex_file, @the_package_says_when_the_mex_file_is_missing};
end

function a_message_comes_back_over_tcp()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
request = uint8([0:255, 167, 17, 122, 17])';
reply = dev.exchange(request);
assert(reply, request);
assert(class(reply), 'uint8');
assert(dev.exchange(uint8([])), zeros(0, 1, 'uint8'));
dev.close();
end

function a_message_comes_back_over_a_serial_line()
[address, stop] = responder('pty:');
dev = wiregauge.open(address, 'Baud', 115200);
% Carriage returns, newlines, XON and XOFF pass as they are.
request = uint8([10 13 17 19 3 4 255 0])';
assert(dev.exchange(request), request);
end

function a_reply_has_the_size_that_is_asked_for()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
for bytes = [0 1 2000 100000]
    assert(size(dev.exchange(uint8(1:10), bytes)), [bytes, 1]);
end
end

function characters_are_sent_as_their_bytes()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
assert(char(dev.exchange('*IDN?')'), '*IDN?');
end

function a_batch_comes_back_in_order_at_every_depth()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
requests = uint8(floor(256 * rand(40, 300)));
for depth = [1 2 4 16]
    replies = dev.exchangeMany(requests, [], depth);
    assert(isequal(replies, requests));
end
replies = dev.exchangeMany(requests, 2000, 4);
assert(size(replies), [2000 300]);
assert(isequal(replies(1:40, :), requests));
assert(size(dev.exchangeMany(zeros(4, 0, 'uint8'), 10)), [10 0]);
end

function requests_of_a_batch_may_differ_in_size()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
requests = {uint8(1:3), uint8([]), uint8((1:200)'), 'text'};
[replies, timing] = dev.exchangeMany(requests, [], 2);
assert(size(replies), [200 4]);
assert(replies(1:3, 1)', uint8(1:3));
assert(replies(:, 3), uint8((1:200)'));
assert(char(replies(1:4, 4)'), 'text');
assert(size(timing.rtt_ns), [1 4]);
end

function depth_shortens_a_batch_on_a_modelled_bus()
[address, stop] = responder('pty:', '--bus', 'full-speed', '--service-time', '500us');
dev = wiregauge.open(address);
requests = zeros(4, 100, 'uint8');
begun = tic;
dev.exchangeMany(requests, 16, 1);
single = toc(begun);
begun = tic;
dev.exchangeMany(requests, 16, 4);
assert(toc(begun) < 0.7 * single);
end

function requests_are_submitted_ahead_and_answers_taken_in_order()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
for k = 1:5
    dev.submit(uint8([k k]));
end
assert(dev.outstanding(), 5);
for k = 1:5
    [reply, timing] = dev.nextReply();
    assert(reply, uint8([k; k]));
    assert(timing.rtt_ns > 0);
end
assert(dev.outstanding(), 0);
fails_with('wiregauge:argument', @() dev.submit(5));
end

function times_are_told()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '2ms');
dev = wiregauge.open(address);
[~, timing] = dev.exchange(uint8(1:4));
assert(class(timing.rtt_ns), 'uint64');
assert(timing.rtt_ns >= 2e6);
assert(double(timing.device_tx_ticks - timing.device_rx_ticks) >= 2e6);
[~, timing] = dev.exchangeMany(zeros(4, 10, 'uint8'), [], 1);
assert(size(timing.start_ns), [1 10]);
assert(all(diff(double(timing.start_ns)) >= 2e6));
end

function the_device_says_who_it_is()
[address, stop] = responder('tcp://127.0.0.1:0', '--name', 'bench four');
dev = wiregauge.open(address);
about = dev.about();
assert(about.responder, 'bench four');
assert(about.address, address);
assert(about.tick_hz, 1e9);
assert(about.largest_reply > 1e5);
assert(iscellstr(about.settings) && any(strcmp(about.settings, 'Nagle: off')));
end

function [address, stop] = echo()
[port, stop] = process('listening on .*:(\d+)', 'socat', {'-d', '-d', 'TCP-LISTEN:0,bind=127.0.0.1,fork', 'PIPE'});
address = ['tcp://127.0.0.1:', port];
end

function an_instrument_ends_its_lines()
[port, stop] = process('listening on .*:(\d+)', 'socat', ...
    {'-d', '-d', 'TCP-LISTEN:0,bind=127.0.0.1,fork', 'EXEC:sed -u s/^/got-/'});
dev = wiregauge.open(['tcp://127.0.0.1:', port], 'Framing', 'terminator');
assert(char(dev.exchange('*IDN?')'), 'got-*IDN?');
[replies, timing] = dev.exchangeMany({'A', 'LONGER', ''}, [], 2);
assert(size(replies), [10 3]);
assert(char(replies(:, 2)'), 'got-LONGER');
assert(double(timing.bytes), [5 10 4]);
assert(replies(6:end, 1)', zeros(1, 5, 'uint8'));
fails_with('wiregauge:protocol', @() dev.exchangeMany({'LONGER'}, 3, 1));
end

function an_instrument_answers_queries()
[address, stop] = responder('tcp://127.0.0.1:0', '--protocol', 'scpi');
dev = wiregauge.open(address, 'Protocol', 'scpi');
name = dev.query('*IDN?');
assert(class(name), 'char');
assert(strncmp(name, 'wiregauge,', 10));
assert(name(end) >= ' ');
assert(dev.writeread('*IDN?'), name);
assert(isfinite(str2double(dev.query('MEAS:VOLT?'))));
[~, timing] = dev.query('*OPC?');
assert(timing.rtt_ns > 0);
% *RST has no answer, and the next query gets its own.
dev.writeline('*RST');
assert(dev.query('*IDN?'), name);
% One reply for each message, in their order.
dev.writeline('*IDN?');
dev.writeline('SYST:ERR?');
assert(dev.readline(), name);
assert(strncmp(dev.readline(), '0,', 2));
dev.setTimeout(0.05);
fails_with('wiregauge:timeout', @() dev.readline());
end

function a_line_is_written_and_a_line_is_read()
[address, stop] = echo();
for given = {{'Framing', 'terminator'}, {'Framing', 'terminator', 'Terminator', uint8([13 10])}}
    options = given{1};
    dev = wiregauge.open(address, options{:});
    dev.writeline('first');
    dev.writeline('second');
    assert(dev.readline(), 'first');
    assert(dev.readline(), 'second');
    assert(dev.query('third'), 'third');
    assert(size(dev.query('x')), [1 1]);
end
dev = wiregauge.open(address, 'Framing', 'raw');
dev.write(uint8(1:10));
assert(dev.read(4), uint8(1:4)');
assert(dev.read(6), uint8(5:10)');
end

function text_beyond_ascii_and_other_ends_pass()
[address, stop] = echo();
dev = wiregauge.open(address, 'Protocol', 'text', 'Terminator', ';');
sent = native2unicode(uint8([52 32 194 181 86 59]), 'UTF-8'); % 4 uV and a semicolon, which the protocol text does not add.
assert([dev.query(sent), ';'], sent);
end

function what_is_not_text_is_refused()
[address, stop] = echo();
dev = wiregauge.open(address, 'Framing', 'raw');
for action = {@() dev.query('x'), @() dev.writeline('x'), @() dev.readline(), @() dev.writeread('x')}
    message = fails_with('wiregauge:usage', action{1});
    assert(~isempty(strfind(message, 'scpi')));
end
dev = wiregauge.open(address, 'Framing', 'terminator');
fails_with('wiregauge:argument', @() dev.query(7));
fails_with('wiregauge:argument', @() dev.writeline(['ab'; 'cd']));
fails_with('wiregauge:argument', @() dev.write(7));
fails_with('wiregauge:argument', @() dev.read(-1));
fails_with('wiregauge:argument', @() wiregauge.open(address, 'Protocol', 'scpi', 'Framing', 'raw'));
fails_with('wiregauge:argument', @() wiregauge.open(address, 'Protocol', 'modbus'));
[address, also] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
fails_with('wiregauge:usage', @() dev.write(uint8(1:4)));
end

function an_echo_that_nobody_here_wrote_answers_in_each_framing()
[address, stop] = echo();
dev = wiregauge.open(address, 'Framing', 'raw');
assert(dev.exchange(uint8(1:100)), uint8(1:100)');
requests = uint8(floor(256 * rand(64, 50)));
assert(isequal(dev.exchangeMany(requests, [], 4), requests));
dev = wiregauge.open(address, 'Framing', 'fixed', 'ReplyBytes', 8);
assert(dev.exchange(uint8(1:8)), uint8(1:8)');
dev = wiregauge.open(address, 'Framing', 'length', 'LengthBytes', 4, 'BigEndian', true);
assert(dev.exchange(uint8(1:9)), uint8(1:9)');
dev = wiregauge.open(address, 'Framing', 'terminator', 'Terminator', uint8([13 10]));
assert(char(dev.exchange('hello')'), 'hello');
end

function a_closed_device_says_so()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
assert(dev.isOpen());
dev.close();
dev.close();
assert(~dev.isOpen());
fails_with('wiregauge:closed', @() dev.exchange(uint8(1)));
fails_with('wiregauge:closed', @() dev.about());
end

function count = descriptors()
count = numel(readdir('/proc/self/fd'));
end

function a_device_closes_when_it_is_cleared()
[address, stop] = responder('tcp://127.0.0.1:0');
before = descriptors();
dev = wiregauge.open(address);
assert(descriptors() > before);
clear dev
assert(descriptors(), before);
end

function [address, stop] = silent()
[port, stop] = process('listening on .*:(\d+)', 'socat', {'-d', '-d', '-u', 'TCP-LISTEN:0,bind=127.0.0.1,fork', 'OPEN:/dev/null'});
address = ['tcp://127.0.0.1:', port];
end

function silence_is_a_timeout()
[address, stop] = silent();
dev = wiregauge.open(address, 'Framing', 'raw', 'Timeout', 0.1);
begun = tic;
message = fails_with('wiregauge:timeout', @() dev.exchange(uint8(1:4)));
assert(toc(begun) >= 0.1 && toc(begun) < 5);
assert(~isempty(strfind(message, address)));
message = fails_with('wiregauge:timeout', @() dev.exchangeMany(zeros(4, 3, 'uint8'), 4, 2));
assert(~isempty(strfind(message, '0 of 3')));
fails_with('wiregauge:timeout', @() wiregauge.open(address, 'Timeout', 0.1));
dev.setTimeout(0.3);
begun = tic;
fails_with('wiregauge:timeout', @() dev.exchange(uint8(1:4)));
assert(toc(begun) >= 0.3);
fails_with('wiregauge:argument', @() dev.setTimeout(0));
end

function an_interrupt_lets_go()
[address, stop] = silent();
script = [tempname(), '.m'];
file = fopen(script, 'w');
fprintf(file, ['addpath(''%s'');\ndev = wiregauge.open(''%s'', ''Framing'', ''raw'', ''Timeout'', 60);\nprintf(''pid %%d\\n'', getpid());\n' ...
    'fflush(stdout);\ntry\n    dev.exchange(uint8(1));\ncatch problem\n    printf(''%%s\\n'', problem.identifier);\nend\n'], ...
    fileparts(fileparts(mfilename('fullpath'))), address);
fclose(file);
tidy = onCleanup(@() delete(script));
[pid, over] = process('^pid (\d+)', 'octave-cli', {'-qf', '--no-history', script});
pause(0.3);
begun = tic;
system(['kill -INT ', pid]);
while exist(['/proc/', pid], 'dir') && isempty(strfind(state(pid), 'Z')) && toc(begun) < 30
    pause(0.05);
end
assert(toc(begun) < 20);
end

function letter = state(pid)
letter = 'Z';
try
    letter = regexp(fileread(['/proc/', pid, '/status']), '^State:\s+(\w)', 'tokens', 'once', 'lineanchors'){1};
end
end

function wrong_types_and_shapes_are_refused()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
requests = {1:4, single(1), {uint8(1)}, struct(), zeros(2, 2, 'uint8'), zeros(2, 2, 2, 'uint8'), ['ab'; 'cd'], true, ...
    sparse(1), @sin, int8(1), complex(1, 1)};
for k = 1:numel(requests)
    fails_with('wiregauge:argument', @() dev.exchange(requests{k}));
end
sizes = {-1, 1.5, NaN, Inf, [1 2], 'a', {1}, 1e10};
for k = 1:numel(sizes)
    fails_with('wiregauge:argument', @() dev.exchange(uint8(1), sizes{k}));
end
batches = {ones(2), {1}, {uint8(1), []}, cell(1, 2), zeros(2, 2, 2, 'uint8'), 'text', {zeros(2, 2, 'uint8')}};
for k = 1:numel(batches)
    fails_with('wiregauge:argument', @() dev.exchangeMany(batches{k}, 4, 1));
end
for depth = {0, -1, 0.5, 1e9, [1 2], 'x'}
    fails_with('wiregauge:argument', @() dev.exchangeMany(uint8(1), 4, depth{1}));
end
% It can be used on.
assert(dev.exchange(uint8(7)), uint8(7));
end

function wrong_options_are_refused()
for given = {{'Framing', 'none'}, {'Framing', 7}, {'Timeout', 0}, {'Timeout', -1}, {'Timeout', NaN}, {'Timeout', '1s'}, {'Wait', 'long'}, ...
        {'Baud', -1}, {'Speed', 1}, {'Timeout'}, {'Framing', 'fixed'}, {'QuickAck', 2}, {'Framing', 'terminator', 'Terminator', {1}}}
    options = given{1};
    fails_with('wiregauge:argument', @() wiregauge.open('tcp://127.0.0.1:1', options{:}));
end
for given = {{'Framing', 'length', 'LengthBytes', 3}, {'Framing', 'terminator', 'Terminator', ''}, ...
        {'Framing', 'terminator', 'Terminator', '123456789'}}
    options = given{1};
    try
        wiregauge.open('tcp://127.0.0.1:1', options{:});
        error('opened');
    catch problem
        assert(any(strcmp(problem.identifier, {'wiregauge:argument', 'wiregauge:usage'})));
    end
end
fails_with('wiregauge:argument', @() wiregauge.open(7));
fails_with('wiregauge:argument', @() wiregauge.open(''));
end

function numbers_of_no_device_are_refused()
for number = {uint64(0), uint64(12345), intmax('uint64')}
    fails_with('wiregauge:closed', @() wiregauge_mex('exchange', number{1}, uint8(1), []));
end
for number = {0, [], 'x', uint64([1 2])}
    fails_with('wiregauge:argument', @() wiregauge_mex('exchange', number{1}, uint8(1), []));
end
fails_with('wiregauge:argument', @() wiregauge_mex());
fails_with('wiregauge:argument', @() wiregauge_mex(7));
fails_with('wiregauge:argument', @() wiregauge_mex('nothing'));
fails_with('wiregauge:argument', @() wiregauge_mex('a very long command, longer than any'));
fails_with('wiregauge:argument', @() wiregauge_mex('exchange'));
fails_with('wiregauge:argument', @() wiregauge_mex('open', 'null://', 7));
fails_with('wiregauge:argument', @() wiregauge_mex('runSamples', 'last', 7));
end

function a_device_that_is_not_there_is_told()
message = fails_with('wiregauge:unreachable', @() wiregauge.open('tcp://127.0.0.1:1'));
assert(~isempty(strfind(message, 'tcp://127.0.0.1:1')));
fails_with('wiregauge:notFound', @() wiregauge.open('serial:///dev/no-such-port'));
fails_with('wiregauge:usage', @() wiregauge.open('nonsense'));
end

function kilobytes = memory()
kilobytes = str2double(regexp(fileread('/proc/self/status'), 'VmRSS:\s+(\d+)', 'tokens', 'once'){1});
end

function two_thousand_openings_leave_nothing_behind()
socket = tempname();
[~, stop] = responder(['unix://', socket]);
for k = 1:2300
    dev = wiregauge.open(['unix://', socket]);
    if mod(k, 2) == 0
        dev.close();
    end
    if k == 300
        dev.close();
        before = [descriptors(), memory()];
    end
end
dev.close();
assert(descriptors(), before(1));
assert(memory() - before(2) < 4000); % 2 kB each would be more.
end

function bytes_flow_in_and_out()
[address, stop] = responder('tcp://127.0.0.1:0');
dev = wiregauge.open(address);
data = dev.readStream(100000, 4096);
assert(size(data), [100000 1]);
% The responder's own pattern: word k is k * 0x9E3779B1 (docs/protocol.md).
words = typecast(data(1:4000), 'uint32');
assert(double(words(2)), hex2dec('9E3779B1'));
assert(dev.writeStream(data, 4096), 100000);
[address, also] = echo();
dev = wiregauge.open(address, 'Framing', 'raw');
assert(dev.writeStream(uint8(1:200)), 200);
assert(dev.readStream(200), uint8(1:200)');
end

function a_run_is_loaded_alike_with_and_without_the_mex_file()
[address, stop] = responder('tcp://127.0.0.1:0', '--drop', 'every=40');
run = wiregauge.exchange(address, 'In', [48 100], 'Depth', [1 3], 'Count', 100, 'Timeout', '20ms', 'Warmup', 5);
stream = wiregauge.stream(address, 'Direction', 'both', 'Transfer', 4096, 'Duration', '100ms', 'Rate', '5MB/s');
looped = wiregauge.loop('virtual', 'Rate', 48000, 'Notify', 4096, 'Duration', '300ms', 'Settle', '50ms', 'NoCalibration', true);
for one = {run, stream, looped}
    % In an Octave that does not see the MEX file.
    here = fileparts(fileparts(mfilename('fullpath')));
    elsewhere = tempname();
    mkdir(elsewhere);
    copyfile(fullfile(here, '+wiregauge'), fullfile(elsewhere, '+wiregauge'));
    kept = [tempname(), '.mat'];
    [status, said] = system(sprintf('octave-cli -qf --no-history --eval "addpath(''%s''); run = struct(wiregauge.loadRun(''%s'')); save(''-binary'', ''%s'', ''run'')"', ...
        elsewhere, one{1}.directory, kept));
    assert(status, 0);
    other = builtin('load', kept).run;
    delete(kept);
    confirm_recursive_rmdir(false, 'local');
    rmdir(elsewhere, 's');
    for k = 1:numel(one{1}.points)
        mine = one{1}.points(k).samples;
        theirs = other.points(k).samples;
        for name = fieldnames(mine)'
            if all(isnan(theirs.(name{1})))
                continue % Device ticks are not in the CSV file.
            end
            assert(isequal(mine.(name{1}), theirs.(name{1})), name{1});
        end
    end
    assert(numel(one{1}.points) >= 1);
end
end

function the_package_says_when_the_mex_file_is_missing()
here = fileparts(fileparts(mfilename('fullpath')));
elsewhere = tempname();
mkdir(elsewhere);
copyfile(fullfile(here, '+wiregauge'), fullfile(elsewhere, '+wiregauge'));
[~, said] = system(sprintf('octave-cli -qf --no-history --eval "addpath(''%s''); try, wiregauge.open(''null://''), catch e, disp(e.identifier), end" 2>&1', elsewhere));
confirm_recursive_rmdir(false, 'local');
rmdir(elsewhere, 's');
assert(strtrim(said), 'wiregauge:missing');
end
