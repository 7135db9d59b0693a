function tests = test_measuring()
%TEST_MEASURING  Measuring with the wiregauge program from M-code, loading what it stored, and drawing it.

tests = {@a_run_of_exchanges_is_measured_and_loaded, @samples_are_those_that_the_program_summed_up, @a_stream_is_measured_and_loaded, ...
    @a_loop_is_measured_and_loaded, @losses_are_samples_too, @an_interrupted_measurement_says_where_it_is, @a_missed_limit_is_told, @what_the_program_says_is_in_the_error, ...
    @options_become_flags, @options_that_cannot_be_are_refused, @a_run_that_is_not_there_is_told, @a_program_that_is_not_there_is_told, ...
    @figures_are_printed, @of_many_points_ten_are_drawn_and_the_figure_says_so, @units_are_those_of_the_report, ...
    @throughput_of_several_request_sizes_is_drawn_at_the_smallest, @the_limit_of_the_medium_has_its_name, ...
    @a_stored_run_is_drawn_by_its_name, ...
    @what_cannot_be_drawn_is_refused, @every_m_file_parses};
% It says at length that another one would be nicer.
warning('off', 'Octave:gnuplot-graphics');
end

function a_run_of_exchanges_is_measured_and_loaded()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'In', [48 100 1000], 'Depth', [1 2], 'Count', 200);
assert(run.kind, 'exchange');
assert(run.state, 'complete');
assert(run.address, address);
assert(numel(run.points), 6);
assert([run.points.in_bytes], [48 48 100 100 1000 1000]);
assert([run.points.depth], [1 2 1 2 1 2]);
for k = 1:6
    assert(numel(run.points(k).rtt_ns), run.points(k).summary.counts.answered);
    assert(all(run.points(k).samples.bytes_in(2:end) == run.points(k).in_bytes));
end
assert(isfield(run.conditions, 'host'));
assert(run.missed, cell(0, 1));
assert(~isempty(strfind(run.text, 'RTT in us')));
again = wiregauge.loadRun(run.directory);
assert(isequaln(again.points, run.points));
end

function samples_are_those_that_the_program_summed_up()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'Count', 500, 'Depth', 4, 'Warmup', 10);
point = run.points(1);
assert(mean(point.rtt_ns), point.summary.rtt.mean.value, -1e-9);
assert(std(point.rtt_ns), point.summary.rtt.sd, -1e-6);
assert(max(point.rtt_ns), point.summary.rtt.max);
assert(mean(point.trt_ns), point.summary.trt.mean.value, -1e-6);
assert(sum(point.samples.phase == 0), 1);
assert(sum(point.samples.phase == 1), 10);
end

function a_stream_is_measured_and_loaded()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.stream(address, 'Direction', 'both', 'Transfer', 4096, 'Duration', '200ms', 'Rate', '5MB/s');
assert(run.kind, 'stream');
assert(unique(run.points(1).samples.way)', [0 1]);
assert(sum(run.points(1).samples.bytes) > 1e5);
end

function a_loop_is_measured_and_loaded()
run = wiregauge.loop('virtual', 'Rate', 48000, 'Notify', 4096, 'Duration', '300ms', 'Settle', '50ms', 'NoCalibration', true);
assert(run.kind, 'loop');
samples = run.points(1).samples;
assert(all(samples.done_ns >= samples.begun_ns));
end

function losses_are_samples_too()
[address, stop] = responder('tcp://127.0.0.1:0', '--drop', 'every=50');
run = wiregauge.exchange(address, 'Count', 200, 'Timeout', '20ms');
lost = sum(run.points(1).samples.status == 1);
assert(lost, run.points(1).summary.counts.lost);
assert(lost >= 3);
assert(numel(run.points(1).rtt_ns), run.points(1).summary.counts.answered);
end

function an_interrupted_measurement_says_where_it_is()
% Ctrl-C in Octave ends all functions, without an error that could be caught.
directory = tempname();
script = [tempname(), '.m'];
file = fopen(script, 'w');
fprintf(file, ['addpath(''%s'');\nprintf(''pid %%d\\n'', getpid());\nfflush(stdout);\n' ...
    'wiregauge.exchange(''null://'', ''Out'', 64, ''Duration'', 5, ''NoCalibration'', true, ''Store'', ''%s'');\n'], ...
    fileparts(fileparts(mfilename('fullpath'))), directory);
fclose(file);
tidy = onCleanup(@() delete(script));
said = tempname();
[~, number] = system(sprintf('setsid octave-cli -qf --no-history %s >%s 2>&1 </dev/null & echo $!', script, said));
also = onCleanup(@() delete(said));
begun = tic;
while ~isfile(fullfile(directory, 'run.json')) && toc(begun) < 20
    pause(0.05);
end
pid = regexp(fileread(said), '^pid (\d+)', 'tokens', 'once', 'lineanchors'){1};
while isempty(strfind(fileread(said), 'loadRun')) && toc(begun) < 40
    % A terminal sends it to the program, too; this one ignores it, for a shell without a terminal started it.
    system(sprintf('kill -INT -%s 2>/dev/null', pid));
    pause(0.5);
end
assert(~isempty(strfind(fileread(said), ['interrupted; what was measured until then is stored: run = wiregauge.loadRun(''', directory])), ...
    fileread(said));
end

function a_missed_limit_is_told()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '2ms');
run = wiregauge.exchange(address, 'Count', 20, 'Require', {'max<1ms', 'corrupted=0'});
assert(size(run.missed), [1 1]);
assert(strncmp(run.missed{1}, 'max<1ms: ', 9));
end

function what_the_program_says_is_in_the_error()
message = fails_with('wiregauge:usage', @() wiregauge.exchange('tcp://127.0.0.1:7700', 'In', 1));
assert(~isempty(strfind(message, '32')));
fails_with('wiregauge:usage', @() wiregauge.exchange('nonsense'));
fails_with('wiregauge:usage', @() wiregauge.exchange('null://', 'NoSuchFlag', 1));
message = fails_with('wiregauge:link', @() wiregauge.exchange('tcp://127.0.0.1:1'));
assert(~isempty(strfind(message, 'tcp://127.0.0.1:1')));
% What looks like a command stays an address.
fails_with('wiregauge:usage', @() wiregauge.exchange('$(touch nothing); ''quoted'' --help'));
assert(~exist('nothing', 'file'));
end

function options_become_flags()
assert(wiregauge.internal.flags({'In', [48 1000], 'KeepData', true, 'NoStore', false, 'Duration', '2s'}), ...
    {'--in=48,1000', '--keep-data', '--duration=2s'});
assert(wiregauge.internal.flags({'require', {'p99<2ms', 'lost<1%'}, 'depth', 4}), ...
    {'--require=p99<2ms', '--require=lost<1%', '--depth=4'});
end

function options_that_cannot_be_are_refused()
fails_with('wiregauge:argument', @() wiregauge.exchange('null://', 'In'));
fails_with('wiregauge:argument', @() wiregauge.exchange('null://', [48 100], 'Count', 1));
fails_with('wiregauge:argument', @() wiregauge.exchange('null://', 'In', NaN));
fails_with('wiregauge:argument', @() wiregauge.exchange('null://', 'In', struct()));
fails_with('wiregauge:argument', @() wiregauge.exchange(7700));
message = fails_with('wiregauge:argument', @assigned);
assert(~isempty(strfind(message, '''In'', [48 1000]')));
end

function assigned()
% What MATLAB takes for a name and its value is an assignment in Octave.
wiregauge.exchange('null://', In=[48 1000]);
end

function a_run_that_is_not_there_is_told()
message = fails_with('wiregauge:run', @() wiregauge.loadRun('/no/such/run'));
assert(~isempty(strfind(message, '/no/such/run')));
end

function a_program_that_is_not_there_is_told()
before = getenv('WIREGAUGE');
restore = onCleanup(@() setenv('WIREGAUGE', before));
setenv('WIREGAUGE', '/no/such/program');
fails_with('wiregauge:missing', @() wiregauge.exchange('null://'));
end

function figures_are_printed()
[address, stop] = responder('pty:', '--bus', 'full-speed', '--service-time', '500us');
run = wiregauge.exchange(address, 'In', [48 1000], 'Depth', [1 2 4], 'Count', 80);
results = [];
evalc('results = wiregauge.pure.compare(address, ''In'', 48, ''Count'', 60);');
printed('histogram', wiregauge.plotHistogram(run));
printed('histogram-log', wiregauge.plotHistogram(run, 'Points', [1 3], 'Log', true));
printed('trt', wiregauge.plotTrt(run));
printed('throughput', wiregauge.plotThroughput(run));
printed('pure', wiregauge.pure.draw(results));
end

function of_many_points_ten_are_drawn_and_the_figure_says_so()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'In', 48 + (0:11) * 100, 'Depth', [1 2], 'Count', 20, 'NoCalibration', true);
handle = wiregauge.plotHistogram(run);
assert(numel(findobj(handle, 'type', 'axes')), 10);
assert(~isempty(findall(handle, 'type', 'text', 'string', [address, ', 10 of 24 points'])));
printed('histogram-of-many', handle);
handle = wiregauge.plotTrt(run);
assert(~isempty(findall(handle, 'type', 'text', 'string', [address, ', 10 of 12 sizes'])));
shown = arrayfun(@(size) ~isempty(findall(handle, 'type', 'text', 'string', ['OUT 16 B, IN ', wiregauge.internal.thousands(size), ' B'])), 48 + (0:11) * 100);
assert(sum(shown), 10);
assert(shown([1 end]), [true true]);
colours = get(findobj(handle, 'type', 'line', 'linestyle', '-'), 'color');
assert(rows(unique(vertcat(colours{:}), 'rows')), 10);
printed('trt-of-many', handle);
message = fails_with('wiregauge:argument', @() wiregauge.plotHistogram(run, 'Points', 1:11));
assert(~isempty(strfind(message, 'at most 10')));
run = wiregauge.exchange(address, 'Depth', 1:12, 'Count', 20, 'NoCalibration', true);
handle = wiregauge.plotThroughput(run);
assert(~isempty(findall(handle, 'type', 'text', 'string', [address, ', 10 of 12 depths'])));
printed('throughput-of-many', handle);
end

function throughput_of_several_request_sizes_is_drawn_at_the_smallest()
% As in the report: a line that joined points of both sizes would go up and down at each size.
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'Out', [16 64], 'In', [48 500 1000], 'Depth', [1 2], 'Count', 20, 'NoCalibration', true);
handle = wiregauge.plotThroughput(run);
lines = findobj(handle, 'type', 'line', 'linestyle', '-', 'marker', 'o');
assert(get(lines(end), 'xdata'), [48 500 1000]);
assert(~isempty(findall(handle, 'type', 'text', 'string', [address, ', OUT 16 B only'])));
printed('throughput-of-two-requests', handle);
% An echo has the size of its request: both vary together.
run = wiregauge.exchange('null://', 'Out', [64 128], 'Count', 20, 'NoCalibration', true);
handle = wiregauge.plotThroughput(run);
assert(~isempty(findall(handle, 'type', 'text', 'string', 'null://')));
lines = findobj(handle, 'type', 'line', 'linestyle', '-', 'marker', 'o');
assert(get(lines(end), 'xdata'), [64 128]);
close(handle);
end

function the_limit_of_the_medium_has_its_name()
run = struct(wiregauge.exchange('null://', 'Out', [64 128], 'Count', 20, 'NoCalibration', true));
[run.kind, run.address] = deal('exchange', 'usb://1');
rates = arrayfun(@(one) one.summary.throughput.in_bytes_s, run.points);
for k = 1:2
    run.points(k).summary.limit = struct('bytes_s', 2 * max(rates), 'source', 'USB full-speed bulk, USB 2.0 table 5-9');
end
handle = wiregauge.plotThroughput(run);
texts = get(findall(handle, 'type', 'text'), 'string');
texts = texts(cellfun(@ischar, texts));
assert(any(strncmp(texts, 'limit ', 6)));
assert(any(strcmp(texts, 'USB full-speed bulk')));
printed('throughput-limit', handle);
for k = 1:2
    run.points(k).summary.limit.bytes_s = 10 * max(rates);
end
handle = wiregauge.plotThroughput(run);
assert(isempty(findall(handle, 'type', 'text', 'string', 'USB full-speed bulk')));
close(handle);
end

function units_are_those_of_the_report()
[factor, unit] = wiregauge.internal.timeUnit(999999);
assert({factor, unit}, {1e3, char([194 181 115])}); % UTF-8, as Octave stores text.
[factor, unit] = wiregauge.internal.timeUnit(1e6);
assert({factor, unit}, {1e6, 'ms'});
[factor, unit] = wiregauge.internal.rateUnit(999999);
assert({factor, unit}, {1e3, 'kB/s'});
[factor, unit] = wiregauge.internal.rateUnit(1e6);
assert({factor, unit}, {1e6, 'MB/s'});
end

function printed(name, handle)
% WIREGAUGE_FIGURES keeps them, for the eye.
directory = getenv('WIREGAUGE_FIGURES');
if isempty(directory)
    directory = getenv('WIREGAUGE_RUNS');
end
file = fullfile(directory, [name, '.png']);
wiregauge.savePicture(handle, file);
close(handle);
picture = imread(file);
assert(size(picture, 1) > 200 && size(picture, 2) > 500);
% Something is drawn: not all white, and in more than one colour.
assert(numel(unique(reshape(picture, [], size(picture, 3)), 'rows')) > 6);
end

function a_stored_run_is_drawn_by_its_name()
run = wiregauge.exchange('null://', 'Out', [64 128], 'Depth', [1 2], 'Count', 50, 'NoCalibration', true);
for draw = {@wiregauge.plotHistogram, @wiregauge.plotTrt, @wiregauge.plotThroughput}
    for name = {'last', run.directory}
        handle = draw{1}(name{1});
        assert(~isempty(findall(handle, 'type', 'text', 'string', 'null://')));
        close(handle);
    end
end
end

function what_cannot_be_drawn_is_refused()
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 50, 'NoCalibration', true);
fails_with('wiregauge:argument', @() wiregauge.plotTrt(run));
fails_with('wiregauge:argument', @() wiregauge.plotHistogram(run, 'Points', 2));
fails_with('wiregauge:argument', @() wiregauge.plotHistogram(7));
end

function every_m_file_parses()
root = fullfile(fileparts(mfilename('fullpath')), '..');
places = {root, fullfile(root, '+wiregauge'), fullfile(root, '+wiregauge', '+internal'), fullfile(root, '+wiregauge', '+pure'), ...
    fullfile(root, 'examples'), fullfile(root, 'tests'), fullfile(root, '..', 'bench', 'languages')};
count = 0;
for p = 1:numel(places)
    files = dir(fullfile(places{p}, '*.m'));
    for k = 1:numel(files)
        file = fullfile(places{p}, files(k).name);
        __parse_file__(file);
        count = count + 1;
        % MATLAB's help takes the first comment; a page of functions lists its first line.
        assert(~isempty(regexp(fileread(file), '(^|\n)%\s?\S', 'once')), file);
        % MATLAB does not know Octave's own spellings. The tests are Octave's.
        if p < 6
            assert(isempty(regexp(fileread(file), '(\n|^)\s*(#|end(if|for|function|while)\>|\w+ [-+*/|&]= )|!=|\+\+;', 'once')), ...
                [file, ': what MATLAB does not understand']);
            % Some of what came after R2019b.
            later = regexp(fileread(file), ['\<(exportgraphics|copygraphics|readlines|writelines|dictionary|clim|isenv|', ...
                'isMATLABReleaseOlderThan|visadev|configureDictionary|mustBeText|validatecolor|arguments|resize|trenddecomp)\('], ...
                'match', 'once');
            assert(isempty(later), [file, ': MATLAB R2019b has no ', later]);
        end
    end
end
assert(count > 30);
broken = [tempname(), '.m'];
tidy = onCleanup(@() delete(broken));
file = fopen(broken, 'w');
fprintf(file, 'x = [1 2\nif x\n');
fclose(file);
try
    __parse_file__(broken);
catch
    return
end
error('what does not parse passed');
end
