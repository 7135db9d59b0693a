function tests = test_pure()
%TEST_PURE  The client in plain M-code: its frames against the vectors, its exchanges against real responders.

tests = {@the_check_is_that_of_the_vectors, @the_pattern_is_that_of_the_vectors, @requests_are_those_of_the_vectors, ...
    @responses_of_the_vectors_are_understood, @headers_that_the_vectors_refuse_are_refused, ...
    @a_responder_is_asked_over_tcp, @a_responder_is_asked_over_a_serial_line, @an_echo_that_nobody_here_wrote_is_measured, ...
    @requests_queued_ahead_hide_the_wait_of_a_bus, @a_wrong_answer_is_counted, @a_lost_answer_is_a_timeout, ...
    @an_echo_is_not_taken_for_a_responder, @what_is_neither_tcp_nor_serial_is_refused, @sizes_that_cannot_be_are_refused, ...
    @results_of_each_size_are_drawn};
end

function all = vectors()
persistent kept
if isempty(kept)
    here = fileparts(mfilename('fullpath'));
    kept = jsondecode(fileread(fullfile(here, '..', '..', 'docs', 'vectors', 'v1.json')));
end
all = kept;
end

function list = each(list)
% jsondecode makes a struct array of alike objects, else a cell array.
if ~iscell(list)
    list = num2cell(list);
end
end

function bytes = hex(text)
bytes = uint8(sscanf(text, '%2x'));
end

function the_check_is_that_of_the_vectors()
list = each(vectors().check);
assert(numel(list) >= 4);
for k = 1:numel(list)
    assert(double(wiregauge.pure.check(hex(list{k}.bytes))), list{k}.crc);
end
end

function the_pattern_is_that_of_the_vectors()
list = each(vectors().pattern);
assert(numel(list) >= 10);
for k = 1:numel(list)
    expected = hex(list{k}.bytes);
    assert(wiregauge.pure.pattern(list{k}.sequence, numel(expected), list{k}.index), expected);
end
end

function requests_are_those_of_the_vectors()
list = each(vectors().requests);
compared = 0;
for k = 1:numel(list)
    one = list{k};
    if one.out_payload + 16 > 1e6
        continue
    end
    frame = wiregauge.pure.encode(one.sequence, one.out_payload + 16, one.in_bytes, one.kind);
    assert(frame(1:16), hex(one.header));
    compared = compared + 1;
end
assert(compared >= 6);
end

function responses_of_the_vectors_are_understood()
list = each(vectors().responses);
for k = 1:numel(list)
    one = list{k};
    fields = wiregauge.pure.decode(hex(one.header));
    assert(fields.valid, one.name);
    assert(fields.kind, one.kind);
    assert(fields.sequence, one.sequence);
    assert(fields.in_payload, one.in_payload);
    assert(fields.status, one.status);
    assert(double(fields.rx_ticks), one.rx_ticks);
    assert(double(fields.tx_ticks), one.tx_ticks);
end
end

function headers_that_the_vectors_refuse_are_refused()
list = each(vectors().invalid);
refused = 0;
for k = 1:numel(list)
    header = hex(list{k}.header);
    if numel(header) == 32
        fields = wiregauge.pure.decode(header);
        assert(~fields.valid, list{k}.name);
        refused = refused + 1;
    end
end
assert(refused >= 5);
end

function a_responder_is_asked_over_tcp()
[address, stop] = responder('tcp://127.0.0.1:0', '--name', 'bench');
connection = wiregauge.pure.connect(address);
about = wiregauge.pure.hello(connection);
assert(about.name, 'bench');
assert(about.tick_hz, 1e9);
for queue = [0 1 3]
    result = wiregauge.pure.measure(connection, 'Out', 40, 'In', 1000, 'Count', 100, 'Queue', queue);
    assert(result.wrong, 0);
    assert(numel(result.rtt_ns), 100);
    assert(all(result.rtt_ns > 0) && all(result.trt_ns >= 0));
    assert(result.max3_ns <= result.max_ns && result.p50_ns <= result.p99_ns);
end
end

function a_responder_is_asked_over_a_serial_line()
[address, stop] = responder('pty:');
connection = wiregauge.pure.connect(address);
wiregauge.pure.hello(connection);
result = wiregauge.pure.measure(connection, 'In', 500, 'Count', 50, 'Queue', 2);
assert(result.wrong, 0);
end

function an_echo_that_nobody_here_wrote_is_measured()
[port, stop] = process('listening on .*:(\d+)', 'socat', {'-d', '-d', 'TCP-LISTEN:0,bind=127.0.0.1', 'PIPE'});
connection = wiregauge.pure.connect(['tcp://127.0.0.1:', port]);
result = wiregauge.pure.measure(connection, 'Protocol', 'echo', 'Out', 300, 'Count', 50, 'Queue', 1);
assert(result.wrong, 0);
assert(result.in, 300);
end

function requests_queued_ahead_hide_the_wait_of_a_bus()
[address, stop] = responder('pty:', '--bus', 'full-speed', '--service-time', '700us');
results = [];
evalc('results = wiregauge.pure.compare(address, ''In'', 48, ''Count'', 150);');
assert([results.queue], [0 1 3]);
assert([results.wrong], [0 0 0]);
% Three frames of 1 ms for each without a queue, one with three: the ratio is the bus's, not this computer's.
assert(results(3).trt_mean_ns < 0.7 * results(1).trt_mean_ns);
end

function a_wrong_answer_is_counted()
[address, stop] = responder('tcp://127.0.0.1:0', '--corrupt', 'every=10');
connection = wiregauge.pure.connect(address);
result = wiregauge.pure.measure(connection, 'In', 100, 'Count', 99);
assert(result.wrong, 10);
end

function a_lost_answer_is_a_timeout()
[address, stop] = responder('tcp://127.0.0.1:0', '--drop', 'every=20');
connection = wiregauge.pure.connect(address, 'Timeout', 0.2);
fails_with('wiregauge:timeout', @() wiregauge.pure.measure(connection, 'Count', 50));
end

function an_echo_is_not_taken_for_a_responder()
[port, stop] = process('listening on .*:(\d+)', 'socat', {'-d', '-d', 'TCP-LISTEN:0,bind=127.0.0.1', 'PIPE'});
connection = wiregauge.pure.connect(['tcp://127.0.0.1:', port]);
fails_with('wiregauge:protocol', @() wiregauge.pure.hello(connection));
end

function what_is_neither_tcp_nor_serial_is_refused()
fails_with('wiregauge:usage', @() wiregauge.pure.connect('udp://127.0.0.1:7'));
fails_with('wiregauge:argument', @() wiregauge.pure.connect(7));
fails_with('wiregauge:link', @() wiregauge.pure.connect('tcp://127.0.0.1:1'));
fails_with('wiregauge:link', @() wiregauge.pure.connect('serial:///dev/no-such-port'));
fails_with('wiregauge:argument', @() wiregauge.pure.connect('tcp://127.0.0.1:1', 'Speed', 1));
end

function sizes_that_cannot_be_are_refused()
fails_with('wiregauge:argument', @() wiregauge.pure.encode(0, 15, 48));
fails_with('wiregauge:argument', @() wiregauge.pure.encode(0, 16, -1));
fails_with('wiregauge:argument', @() wiregauge.pure.decode(zeros(31, 1, 'uint8')));
fails_with('wiregauge:argument', @() wiregauge.pure.measure([], 'In', 31));
fails_with('wiregauge:argument', @() wiregauge.pure.measure([], 'Count', 0));
fails_with('wiregauge:argument', @() wiregauge.pure.measure([], 'Queue', 0.5));
fails_with('wiregauge:argument', @() wiregauge.pure.measure([], 'Count'));
end

function results_of_each_size_are_drawn()
[address, stop] = responder('tcp://127.0.0.1:0');
results = [];
evalc('results = wiregauge.pure.compare(address, ''In'', [48 1000], ''Queue'', [0 1], ''Count'', 30);');
handle = wiregauge.pure.draw(results);
tidy = onCleanup(@() close(handle));
assert(numel(findobj(handle, 'type', 'axes')), 8);
texts = get(findall(handle, 'type', 'text'), 'string');
texts = texts(cellfun(@ischar, texts));
assert(sum(strncmp(texts, 'R = 1, IN 1,000 B: ', 19)), 2);
assert(any(strncmp(texts, 'R: requests queued', 18)));
folder = getenv('WIREGAUGE_FIGURES');
if ~isempty(folder)
    wiregauge.savePicture(handle, fullfile(folder, 'pure-sizes.png'));
end
end
