function tests = test_control()
%TEST_CONTROL  A control loop with measured delays, from M-code.

tests = {@every_form_of_a_plant_and_a_controller_is_the_same_loop, @objects_of_a_control_toolbox_are_taken, ...
    @options_are_those_of_the_program, @a_model_file_is_overridden_by_options, @without_output_the_tables_are_printed, ...
    @points_are_a_struct_array, @what_is_no_loop_is_refused};
end

function run = servo(varargin)
% A run with the period of the loop; measured once for all tests.
persistent measured
if isempty(measured)
    [address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '1ms');
    measured = wiregauge.exchange(address, 'Depth', [1 2], 'Interval', '6ms', 'Count', 60, 'NoCalibration', true);
end
run = measured;
end

function result = of(varargin)
result = wiregauge.control(servo(), varargin{:});
end

function same(found, expected)
assert(found.period_ns, expected.period_ns);
assert(numel(found.points), numel(expected.points));
for k = 1:numel(found.points)
    one = found.points(k).assessment.on_trace;
    other = expected.points(k).assessment.on_trace;
    assert(one.growth, other.growth, -1e-6);
    assert(one.cost, other.cost, -1e-6);
end
end

function every_form_of_a_plant_and_a_controller_is_the_same_loop()
expected = of('1000/(s^2+s)', '(0.5*z-0.3)/(z-0.1)');
assert(expected.period_ns, 6e6);
a = [-1 0; 1 0];
b = [1; 0];
c = [0 1000];
controllers = {{[0.5 -0.3], [1 -0.1]}, {0.1, 1, -0.25, 0.5}, struct('num', [0.5 -0.3], 'den', [1 -0.1]), ...
    struct('A', 0.1, 'B', 1, 'C', -0.25, 'D', 0.5)};
plants = {{1000, [1 1 0]}, {a, b, c}, {a, b, c, 0}, struct('A', a, 'B', b, 'C', c)};
for k = 1:numel(plants)
    same(of(plants{k}, controllers{k}), expected);
    same(of(plants{k}, '(0.5*z-0.3)/(z-0.1)'), expected);
    same(of('1000/(s^2+s)', controllers{k}), expected);
end
same(of('1/(s+1)', 0.5), of('1/(s+1)', '0.5'));
same(of({1000, [1 1 0]}, 'PID', [0.96 0 0.049]), of('1000/(s^2+s)', 'PID', [0.96 0 0.049]));
same(of({1000, [1 1 0]}, 'PID', [0.96 0 0.049], 'Filter', 10), of('1000/(s^2+s)', 'PID', [0.96 0 0.049]));
same(of('1000/(s^2+s)', [], 'PID', [0.96 0 0.049]), of('1000/(s^2+s)', 'PID', [0.96 0 0.049]));
end

function objects_of_a_control_toolbox_are_taken()
folder = fullfile(fileparts(mfilename('fullpath')), 'standin');
addpath(folder);
restore = onCleanup(@() rmpath(folder));
expected = of('1000/(s^2+s)', '(0.5*z-0.3)/(z-0.1)');
same(of(tf(1000, [1 1 0]), tf([0.5 -0.3], [1 -0.1], 6e-3)), expected);
same(of(ss([-1 0; 1 0], [1; 0], [0 1000], 0), tf([0.5 -0.3], [1 -0.1], -1)), expected);
% The sample time of the controller is the period, unless that is given.
faster = of(tf(1000, [1 1 0]), tf([0.5 -0.3], [1 -0.1], 3e-3));
assert(faster.period_ns, 3e6);
message = fails_with('wiregauge:argument', @() of(tf(1000, [1 1 0]), tf([0.5 -0.3], [1 -0.1], 3e-3), 'Period', 6e-3));
assert(~isempty(strfind(message, '0.003 s')));
message = fails_with('wiregauge:argument', @() of(tf(1000, [1 1 0]), tf(1, [1 1])));
assert(~isempty(strfind(message, 'discrete time')));
message = fails_with('wiregauge:argument', @() of(tf(1, [1 1], 1e-3), 1));
assert(~isempty(strfind(message, 'continuous time')));
end

function options_are_those_of_the_program()
result = of('1000/(s^2+s)', 'PID', [0.96 0 0.049], 'OnMiss', 'skip', 'Order', 'arrival', 'Deadline', 0.1, 'Depth', 2);
assert(result.rules.on_miss, 'skip');
assert(result.rules.order, 'arrival');
assert(result.rules.deadline_ns, 1e8);
assert(numel(result.points), 1);
assert(result.points.point.depth, 2);
usual = of('1000/(s^2+s)', 'PID', [0.96 0 0.049]);
cost = @(one) one.points(1).assessment.on_trace.cost;
louder = of('1000/(s^2+s)', 'PID', [0.96 0 0.049], 'Noise', 3);
assert(cost(louder), 3 * cost(usual), -1e-9);
assert(cost(of('1000/(s^2+s)', 'PID', [0.96 0 0.049], 'Noise', struct('input', 3))), 3 * cost(usual), -1e-9);
assert(cost(of('1000/(s^2+s)', 'PID', [0.96 0 0.049], 'Weights', struct('output', 2))), 2 * cost(usual), -1e-9);
limited = of('1000/(s^2+s)', 'PID', [0.96 0 0.049], 'Limits', [-0.5 0.5]);
assert(limited.points(1).assessment.on_trace.step.is_limited, true);
folder = tempname();
of('1000/(s^2+s)', 'PID', [0.96 0 0.049], 'Depth', 1, 'Figures', folder);
assert(exist(fullfile(folder, 'control-step.svg'), 'file'), 2);
end

function a_model_file_is_overridden_by_options()
file = [tempname(), '.json'];
tidy = onCleanup(@() delete(file));
handle = fopen(file, 'w');
fprintf(handle, '{"period": "6ms", "plant": "1000/(s^2+s)", "controller": {"pid": [0.96, 0, 0.049]}}');
fclose(handle);
same(of('Model', file), of('1000/(s^2+s)', 'PID', [0.96 0 0.049]));
same(of('500/(s^2+s)', 'Model', file), of('500/(s^2+s)', 'PID', [0.96 0 0.049]));
message = fails_with('wiregauge:argument', @() of({500, [1 1 0]}, 'Model', file));
assert(~isempty(strfind(message, 'plant')));
end

function without_output_the_tables_are_printed()
run = servo();
printed = evalc('wiregauge.control(run, ''1000/(s^2+s)'', ''PID'', [0.96 0 0.049]);');
assert(~isempty(strfind(printed, 'The loop ')), printed);
assert(~isempty(strfind(printed, 'in any order')), printed);
end

function points_are_a_struct_array()
result = of('1000/(s^2+s)', 'PID', [0.96 0 0.049]);
points = [result.points.point];
assert([points.depth], [1 2]);
assert(all([result.points.cycles] >= 60));
% A run by its name, and the last one.
run = servo();
byName = wiregauge.control(run.directory, '1000/(s^2+s)', 'PID', [0.96 0 0.049]);
same(byName, result);
end

function what_is_no_loop_is_refused()
for wrong = {{'1000/(s^2+s)', {1}}, {'1000/(s^2+s)', struct('x', 1)}, {{1, [1 NaN]}, 1}, {3, 1}, {'1/s', 1, 'PID', [1 0 0]}, ...
        {'1/s', 'PID', [1 0]}, {'1/s', 1, 'Filter', 5}, {'1/s', 1, 'Perod', 1}, {'1/s', 1, 'Weights', 2}, {'1/s', 1, 'Period', -1}, ...
        {'1/s', 1, 'Noise', struct('colour', 1)}, {'1/s', 1, 2, 3}, {'1/s', {[1 2i], 1, 1, 0}}}
    fails_with('wiregauge:argument', @() of(wrong{1}{:}));
end
fails_with('wiregauge:argument', @() wiregauge.control(7, '1/s', 1));
message = fails_with('wiregauge:usage', @() of('1000/(s^2+s)', 9));
assert(~isempty(strfind(message, 'unstable without any delay')));
message = fails_with('wiregauge:usage', @() of('s', 1));
assert(~isempty(strfind(message, 'improper')));
fails_with('wiregauge:usage', @() wiregauge.control('/no/such/run', '1/s', 1));
end
