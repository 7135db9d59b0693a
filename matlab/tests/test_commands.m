function tests = test_commands()
%TEST_COMMANDS  The commands of the program as functions: structs with the figures that the program computes.

tests = {@a_run_displays_as_a_table_of_its_points, @a_run_displays_what_is_uncertain_and_its_warnings, ...
    @a_run_of_many_points_displays_as_a_screenful, ...
    @all_tables_of_a_run_can_be_printed, @points_of_a_stream_have_their_direction_and_losses, @points_of_a_loop_have_their_preload_and_aim, ...
    @figures_of_a_point_display_without_its_samples, @figures_of_all_points_make_a_vector, @a_missing_figure_is_nan, ...
    @null_in_json_is_nan_and_lists_of_objects_are_struct_arrays, @the_last_run_has_its_path, @a_failed_run_says_why, ...
    @tune_returns_the_best_setting_and_its_probes, @a_constraint_that_does_not_hold_is_missed, @a_run_is_no_worse_than_itself, ...
    @losses_meet_the_condition, @deadlines_are_counted_at_each_point, @the_device_is_what_limits_a_slow_device, ...
    @limits_are_those_of_the_specification, @a_report_is_a_page_and_figures, @seconds_are_times, @every_time_of_the_program_takes_seconds, ...
    @without_output_commands_print_their_tables, @what_the_program_refuses_is_an_error, @without_graphics_the_error_says_what_to_install};
end

function a_run_displays_as_a_table_of_its_points()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'In', [48 1000], 'Depth', [1 2], 'Count', 50, 'Require', 'max<1ns'); %#ok<NASGU>
shown = evalc('run');
for part = {address, 'exchange run, complete', 'RTT in us', '  n  ', '1,000', 'limit missed', run.directory}
    assert(~isempty(strfind(shown, part{1})), [part{1}, ' is not in ', shown]);
end
assert(numel(strfind(shown, sprintf('\n'))) < 30);
assert(isempty(strfind(shown, 'NaN')));
assert(evalc('disp(run)'), evalc('display_only(run)'));
failed = struct(run);
[failed.points, failed.tables] = deal(struct([]), '');
assert(~isempty(strfind(wiregauge.internal.summaryText(failed), 'no point was finished')));
dev = wiregauge.open(address);
assert(~isempty(strfind(evalc('dev'), ['open: ', address])));
end

function a_run_displays_what_is_uncertain_and_its_warnings()
% Of 5 exchanges, the p99 is their maximum.
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 5, 'NoCalibration', true);
for shown = {evalc('run'), evalc('disp(wiregauge.loadRun(run.directory))')}
    assert(~isempty(strfind(shown{1}, ' ~')), shown{1});
    assert(~isempty(strfind(shown{1}, '''Count''')), shown{1});
end
assert(iscellstr(run.warnings) && size(run.warnings, 2) == 1);
assert(any(strncmp(run.warnings, 'W05: ', 5)));
assert(isempty(strfind([run.warnings{:}], sprintf('\n'))));
loaded = wiregauge.loadRun(run.directory);
assert(loaded.warnings, run.warnings);
assert(run.points.n, 5);
end

function a_run_of_many_points_displays_as_a_screenful()
run = wiregauge.exchange('null://', 'Out', 64:64:3200, 'Count', 20, 'NoCalibration', true);
shown = evalc('run');
assert(numel(strfind(shown, sprintf('\n'))) < 50, shown);
assert(~isempty(regexp(shown, 'and \d+ more lines: run\.show\(\)', 'once')), shown);
assert(~isempty(strfind(shown, run.directory)), shown);
assert(numel(strfind(run.show(), sprintf('\n'))) > 50);
end

function all_tables_of_a_run_can_be_printed()
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 50, 'NoCalibration', true);
assert(~isempty(regexp(run.text, 'all tables[^:]*: run\.show\(''Full'', true\)', 'once')), run.text);
short = run.show();
full = run.show('Full', true);
assert(numel(full) > numel(short));
assert(evalc('run.show(''Full'', true)'), full);
assert(isempty(strfind(regexprep(full, 'measured with:[^\n]*', ''), '--')), full);
message = fails_with('wiregauge:argument', @() run.show('Full'));
assert(strncmp(message, 'run.show: ', 10), message);
end

function points_of_a_stream_have_their_direction_and_losses()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.stream(address, 'Direction', 'in,out', 'Transfer', 4096, 'Duration', 0.1);
assert({run.points.direction}, {'in', 'out'});
assert([run.points.lost_bytes], [0 0]);
shown = evalc('run');
for part = {'direction', 'OUT', 'lost B'}
    assert(~isempty(strfind(shown, part{1})), shown);
end
end

function points_of_a_loop_have_their_preload_and_aim()
run = wiregauge.loop('virtual', 'Rate', 48000, 'Notify', 1024, 'Find', true, 'Duration', 0.3, 'Settle', 0.05, 'NoCalibration', true);
assert(run.points(1).aim, 'curve');
assert(run.points(end).aim, 'hold');
assert(run.points(end).preload_bytes, run.points(end).summary.point.preload_bytes);
assert(~isempty(strfind(evalc('run'), 'preload B')));
end

function display_only(run)
disp(run);
end

function figures_of_a_point_display_without_its_samples()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'In', [48 1000], 'Depth', [1 2], 'Count', 500);
shown = evalc('run.figures(2)');
assert(numel(strfind(shown, sprintf('\n'))) < 30, shown);
assert(~isempty(strfind(shown, 'p99 = ')));
figures = run.figures();
assert([figures.p99], [run.points.p99]);
assert(all(structfun(@isscalar, figures(1))));
second = run.figures(2);
assert(second, figures(2));
for wrong = {0, 5, NaN, 'x', 1.5, [1 2]}
    message = fails_with('wiregauge:argument', @() run.figures(wrong{1}));
    assert(strncmp(message, 'run.figures: the number of the point must be', 40), message);
end
fails_with('wiregauge:argument', @() wiregauge.Run(7));
stream = wiregauge.stream(address, 'Direction', 'in', 'Transfer', 4096, 'Duration', 0.1);
assert(isfield(stream.figures(1), 'in_bytes_s'));
end

function figures_of_all_points_make_a_vector()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'In', [48 1000], 'Depth', [1 2], 'Count', 200);
p99 = [run.points.p99];
assert(size(p99), [1 4]);
for k = 1:4
    point = run.points(k);
    assert(p99(k), point.summary.rtt.p99.value);
    assert(point.mean, mean(point.rtt_ns), -1e-9);
    assert(point.max, max(point.rtt_ns));
    assert(point.trt_mean, mean(point.trt_ns), -1e-6);
    assert([point.lost, point.lost_share], [0 0]);
    assert(point.n, point.summary.counts.answered);
    assert(point.in_bytes_s, point.in_bytes * point.exchanges_s, -1e-6);
end
end

function a_missing_figure_is_nan()
% A device without a clock, and a run that is too short for the upper bound of a percentile.
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 20, 'NoCalibration', true);
assert(run.points.summary.device, NaN);
assert(run.points.summary.rtt.p999.high, NaN);
none = struct('point', struct('out_bytes', 16, 'in_bytes', 48, 'depth', 1), 'rtt', NaN, 'trt', NaN, ...
    'counts', struct('exchanges', 4, 'answered', 0));
point = wiregauge.internal.pointFigures('exchange', none);
assert([point.p99, point.max, point.trt_mean, point.in_bytes_s, point.lost, point.lost_share], [NaN NaN NaN NaN 4 1]);
assert(isnan(run.plan.host.priority));
end

function null_in_json_is_nan_and_lists_of_objects_are_struct_arrays()
value = wiregauge.internal.decoded('{"a": null, "b": [1, null, 3], "c": "x: null, \"y\": null", "d": [{"e": null}, {"f": {"g":null}}], "h": []}');
assert(value.a, NaN);
assert(value.b, [1; NaN; 3]);
assert(value.c, 'x: null, "y": null');
assert(size(value.d), [2 1]);
assert(value.d(1).e, NaN);
assert(value.d(1).f, NaN);
assert(value.d(2).e, NaN);
assert(value.d(2).f.g, NaN);
assert(isempty(value.h));
assert(wiregauge.internal.decoded('[{"a": 1}, {"a": 2}]'), struct('a', {1; 2}));
end

function the_last_run_has_its_path()
first = wiregauge.exchange('null://', 'Out', 64, 'Count', 20, 'NoCalibration', true);
last = wiregauge.loadRun('last');
assert(last.directory, first.directory);
assert(isfile(fullfile(last.directory, 'run.json')));
[~, name] = fileparts(first.directory);
named = wiregauge.loadRun(name);
assert(named.directory, first.directory);
% A relative path is made absolute.
before = cd(fileparts(first.directory));
restore = onCleanup(@() cd(before));
relative = wiregauge.loadRun(['./', name]);
assert(relative.directory, first.directory);
assert(without_mex(sprintf('r = wiregauge.loadRun(''last''); disp(r.directory)')), first.directory);
assert(without_mex(sprintf('r = wiregauge.loadRun(''%s''); disp(r.directory)', name)), first.directory);
said = without_mex('try, wiregauge.loadRun(''nothing-like-it''), catch e, disp(e.identifier), end');
assert(said, 'wiregauge:run');
end

function said = without_mex(code)
% In an Octave that does not see the MEX file.
here = fileparts(fileparts(mfilename('fullpath')));
elsewhere = tempname();
mkdir(elsewhere);
copyfile(fullfile(here, '+wiregauge'), fullfile(elsewhere, '+wiregauge'));
[~, said] = system(sprintf('octave-cli -qf --no-history --eval "addpath(''%s''); %s" 2>&1', elsewhere, code));
said = strtrim(said);
confirm_recursive_rmdir(false, 'local');
rmdir(elsewhere, 's');
end

function a_failed_run_says_why()
[address, stop] = responder('tcp://127.0.0.1:0', '--disconnect-after', '30');
directory = tempname();
fails_with('wiregauge:link', @() wiregauge.exchange(address, 'Count', 1000, 'Store', directory));
run = wiregauge.loadRun(directory);
assert(run.state, 'failed');
assert(~isempty(run.problem));
assert(~isempty(strfind(evalc('disp(run)'), strtok(run.problem, sprintf('\n')))));
end

function tune_returns_the_best_setting_and_its_probes()
[address, stop] = responder('pty:', '--bus', 'full-speed', '--service-time', '500us');
result = wiregauge.tune(address, 'Minimise', 'trt', 'In', 48, 'Depth', [1 4], 'Count', 60, 'SubjectTo', {'lost=0', 'p50<1s'});
assert(any(result.best.depth == [1 4]));
% The device takes 500 us for each exchange.
assert(result.best.objective.value > 5e5);
run = wiregauge.loadRun(result.run);
assert(run.points(end).depth, result.best.depth);
assert([run.points(end).trt_mean], result.best.objective.value, -1e-6);
assert(all(ismember([result.probes.depth], [1 4])));
assert(numel(result.best.constraints), 2);
assert(result.use.call.depth, result.best.depth);
% The calls that it proposes run as they are.
requests = zeros(14, 10, 'uint8');
eval(result.use.matlab);
assert(size(replies), [14 10]);
end

function a_constraint_that_does_not_hold_is_missed()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '2ms');
result = wiregauge.tune(address, 'Minimise', 'trt', 'In', 48, 'Depth', 1, 'Count', 20, 'SubjectTo', 'p50<1ms', 'NoCalibration', true);
assert(numel(result.missed) >= 1);
assert(~isempty(strfind(result.missed{1}, 'p50')));
end

function a_run_is_no_worse_than_itself()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'Depth', [1 2], 'Count', 100);
result = wiregauge.compare(run, run.directory, 'Only', 'p50,p99', 'FailIf', 'p50 > 1% worse');
assert(numel(result.points), 2);
for point = result.points'
    assert({point.figures.figure}, {'p50', 'p99'});
    assert(arrayfun(@(one) one.difference.absolute.value, point.figures)', [0 0]);
end
assert(result.missed, cell(0, 1));
assert(result.fail_if.is_met, false);
other = wiregauge.exchange(address, 'Depth', [1 2], 'Count', 100);
both = wiregauge.compare({run, other}, other);
assert(numel(both.before), 2);
assert(numel(both.after), 1);
end

function losses_meet_the_condition()
[address, stop] = responder('tcp://127.0.0.1:0');
[lossy, also] = responder('tcp://127.0.0.1:0', '--drop', 'every=4');
before = wiregauge.exchange(address, 'Count', 200);
after = wiregauge.exchange(lossy, 'Count', 200, 'Timeout', 0.02);
result = wiregauge.compare(before, after, 'FailIf', {'lost > 1% more', 'lost > 99% more'}, 'Only', 'lost');
assert([result.fail_if.is_met], [true false]);
assert(result.points.figures.verdict, 'worse');
assert(size(result.missed), [1 1]);
assert(strncmp(result.missed{1}, 'lost > 1% more: ', 16));
end

function deadlines_are_counted_at_each_point()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '3ms');
run = wiregauge.exchange(address, 'Depth', [1 2], 'Count', 60);
result = wiregauge.deadline(run, 'Period', 2e-3, 'Deadline', '1ms', 'Require', {'missed<1%', 'longest<3'});
assert(result.period_ns, 2e6);
assert(result.deadline_ns, 1e6);
points = [result.points.point];
assert([points.depth], [1 2]);
% No response takes less than 3 ms.
assert([result.points.missed], [result.points.cycles]);
assert(numel(result.missed_limits), 4);
assert(iscellstr(result.missed_limits));
one = wiregauge.deadline(run, 'Period', 10, 'Depth', 1, 'Require', 'longest<2');
assert(numel(one.points), 1);
assert(one.missed_limits, cell(0, 1));
assert(one.jitter_ns, NaN);
end

function the_device_is_what_limits_a_slow_device()
[address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '5ms');
run = wiregauge.exchange(address, 'In', [48 1000 4000], 'Depth', [1 2], 'Count', 40);
result = wiregauge.explain(run, 'Predict', struct('in', 2000, 'depth', 2));
assert(result.kind, 'exchange');
assert(size([result.points.device_ns]), [1 6]);
assert(all([result.points.device_ns] >= 5e6));
assert(result.points(1).verdict.kind, 'device');
assert(~isempty(strfind(result.points(1).words, 'device')));
assert(result.models.predictions.trt_ns.value > 4e6);
% Several predictions, as text and as structs.
several = wiregauge.explain(run, 'Predict', {'in=2000,depth=1', struct('in', 500, 'depth', 2)});
assert(numel(several.models.predictions), 2);
stream = wiregauge.stream(address, 'Direction', 'in', 'Transfer', [4096 65536], 'Duration', 0.1);
streamed = wiregauge.explain(stream);
assert(numel(streamed.points), 2);
end

function limits_are_those_of_the_specification()
% 1216 B of bulk data in each frame of a full-speed bus (USB 2.0, table 5-9).
result = wiregauge.limits('usb', 'Speed', 'full', 'Type', 'bulk');
assert(result.bytes_s, 1216e3);
lines = wiregauge.limits('uart', 'Baud', [9600 115200]);
assert([lines.bytes_s], [960 11520]);
frames = wiregauge.limits('can', 'Bitrate', 5e5);
assert(unique([frames.bitrate]), 5e5);
all_media = wiregauge.limits();
assert(sort(unique({all_media.medium})), {'can', 'tcp', 'uart', 'udp', 'usb'});
assert(size([all_media.exchange_ns]), [1 numel(all_media)]); % NaN where no exchange is given.
fails_with('wiregauge:usage', @() wiregauge.limits('usb', 'Speed', 'warp'));
fails_with('wiregauge:argument', @() wiregauge.limits('pigeon'));
end

function a_report_is_a_page_and_figures()
run = wiregauge.exchange('null://', 'Out', 64, 'Depth', 1, 'Count', 100, 'NoCalibration', true);
page = wiregauge.report(run);
assert(page, fullfile(run.directory, 'report.html'));
assert(~isempty(strfind(fileread(page), '<html')));
folder = tempname();
[page, figures] = wiregauge.report({run, run.directory}, 'Figures', folder, 'Format', 'svg');
assert(page, '');
assert(numel(figures) >= 1);
assert(all(cellfun(@isfile, figures)));
file = [tempname(), ' (1).html'];
[page, figures] = wiregauge.report(run, 'Output', file, 'Figures', folder, 'Force', true);
assert(page, file);
assert(numel(figures) >= 2);
delete(file);
fails_with('wiregauge:argument', @() wiregauge.report(run, 'Output', '-'));
fails_with('wiregauge:argument', @() wiregauge.report({}));
end

function every_time_of_the_program_takes_seconds()
found = 0;
for name = {'exchange', 'stream', 'loop', 'tune', 'control', 'deadline', 'compare', 'explain', 'report', 'limits'}
    [~, help] = wiregauge.internal.command({'help', name{1}});
    for flag = regexp(help, '(--[a-z-]+) <TIMES?>', 'tokens')
        words = wiregauge.internal.flags({wiregauge.internal.option(flag{1}{1}), 1e-3});
        assert(words, {[flag{1}{1}, '=1000000ns']});
        found = found + 1;
    end
end
assert(found > 10);
end

function seconds_are_times()
assert(wiregauge.internal.flags({'Period', 1e-3, 'Below', [6e-3 10e-3], 'Warmup', 10, 'PID', [1 0 0.5]}), ...
    {'--period=1000000ns', '--below=6000000ns,10000000ns', '--warmup=10', '--pid=1,0,0.5'});
end

function without_output_commands_print_their_tables()
[address, stop] = responder('tcp://127.0.0.1:0');
run = wiregauge.exchange(address, 'In', [48 1000], 'Count', 100);
assert(~isempty(strfind(evalc('wiregauge.deadline(run, ''Period'', 1, ''Require'', ''missed<0.0001%'');'), 'undecided')));
assert(~isempty(strfind(evalc('wiregauge.explain(run);'), 'Bottleneck')));
assert(~isempty(strfind(evalc('wiregauge.compare(run, run);'), 'No significant difference')));
assert(~isempty(strfind(evalc('wiregauge.report(run);'), 'report.html')));
assert(~isempty(strfind(evalc('wiregauge.limits(''uart'');'), 'baud')));
assert(~isempty(strfind(evalc('wiregauge.tune(address, ''Minimise'', ''trt'', ''Depth'', 1, ''Count'', 20);'), 'depth')));
end

function what_the_program_refuses_is_an_error()
for command = {@wiregauge.deadline, @wiregauge.explain, @wiregauge.report}
    message = fails_with('wiregauge:usage', @() command{1}('/no/such/run'));
    assert(~isempty(strfind(message, '/no/such/run')));
    fails_with('wiregauge:argument', @() command{1}(7));
    fails_with('wiregauge:argument', @() command{1}('last', 'Period'));
end
fails_with('wiregauge:usage', @() wiregauge.compare('/no/such/run', 'last'));
fails_with('wiregauge:argument', @() wiregauge.compare({}, 'last'));
fails_with('wiregauge:usage', @() wiregauge.tune('null://'));
fails_with('wiregauge:link', @() wiregauge.tune('tcp://127.0.0.1:1', 'Minimise', 'trt'));
fails_with('wiregauge:usage', @() wiregauge.deadline('last', 'NoSuchFlag', 1));
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 20, 'NoCalibration', true);
message = fails_with('wiregauge:usage', @() wiregauge.deadline(run));
assert(~isempty(strfind(message, 'period')));
end

function without_graphics_the_error_says_what_to_install()
run = wiregauge.exchange('null://', 'Out', 64, 'Count', 20, 'NoCalibration', true);
before = getenv('PATH');
restore = onCleanup(@() setenv('PATH', before));
setenv('PATH', '/nowhere');
message = fails_with('wiregauge:missing', @() wiregauge.plotHistogram(run));
assert(~isempty(strfind(message, 'gnuplot-nox')));
assert(~isempty(strfind(message, 'wiregauge.report')));
end
