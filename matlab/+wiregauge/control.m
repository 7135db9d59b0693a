function result = control(run, varargin)
%CONTROL  Report what the measured delays do to a control loop: stability, cost, step response.
%   wiregauge.control('last', '1000/(s^2+s)', 'PID', [0.96 0 0.049]) prints the tables of `wiregauge control`.
%   result = wiregauge.control(run, plant, controller, 'Period', 6e-3, 'OnMiss', 'hold') returns its figures as a struct.
%
%   run is a run of wiregauge.exchange or wiregauge.loadRun, its directory, its name, or 'last'.
%
%   plant, in continuous time, and controller, in discrete time from the control error to the command, are each
%     text                        a transfer function in s or z: '1000/(s^2+s)', '(z-0.5)/(z-1)'
%     {num, den}                  its coefficients, the highest power first: {1000, [1 1 0]}
%     {A, B, C} or {A, B, C, D}   a state space; also a struct with the fields A, B, C (and D), or num and den
%     tf, zpk or ss               an object of the Control System Toolbox, or of Octave's package control; the sample time of the
%                                 controller is the period
%     a number or a matrix        a gain (the controller only)
%   The controller is left out, or [], with 'PID'; both with 'Model'.
%
%   Options:
%     'PID'        [K Ti Td]: gain, integral time and derivative time in seconds (0: none)
%     'Filter'     N of the low-pass filter of the derivative, Td/N (default 10)
%     'Period'     period of the loop in seconds, or text ('6ms'); default: the interval or rate of the run
%     'Deadline'   ignore responses that take longer: seconds, or text
%     'OnMiss'     'hold' (default), 'zero-at-deadline', 'zero-at-once', 'skip'
%     'Order'      'newest' (default) or 'arrival'
%     'Noise'      intensity of the white noise at the plant's input (default 1), or a struct with the fields input or process
%                  (intensity), and measurement (variance)
%     'Weights'    of the cost: a struct with the fields output, input, state (numbers or matrices; default 1, 0, 0)
%     'Limits'     lowest and highest command, a row for each input; used in step responses
%     'Model'      file with the model (.toml or .json); options and text override its keys
%     'Point', 'In', 'Out', 'Depth'    only these points of the run ('Point' counts from 0)
%     'Require'    verdicts that must hold at every point: 'held', {'proved', 'control.cost<20'} (docs/control.md)
%     'Figures'    write figures to this folder as SVG
%
%   result has the fields of `wiregauge control --json` (docs/control.md); names end in their unit, shares are 0 to 1:
%     run, period_ns, rules       name of the run; period in ns; what becomes of late and lost responses
%     missed_limits               the limits of 'Require' that are missed or undecided, a cell column of text
%     lowest_cost                 index of the point with the lowest cost, from 0; NaN if there is one point
%     points                      a struct array, one element for each point:
%       point                     index, out_bytes, in_bytes, depth
%       cycles, unanswered, unsent, left_out    numbers of cycles
%       parts                     NaN if the device has no clock, else to_device, in_device, from_device (median_ns, p99_ns, max_ns)
%       assessment                NaN if no response arrived in time, else a struct:
%         delays                  min_ns, median_ns, p99_ns, max_ns, late and lost (shares), longest_loss (cycles)
%         on_trace                growth (factor per cycle; below 1 the loop held), cost (NaN if it did not hold), interval (low, high),
%                                 no_delay, median_delay, equal_delay_ns, curve, worst_cycle, worst_ratio, step
%         long_run                independent (growth of the mean square per cycle, cost), bursts; or reason
%         any_order               verdict, range, margin (margin_s), demanded_s
%         misses, delay_margin (margin_s), buffer (delay_ns, cost, cost_without)
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'In', 48, 'Depth', [1 2], 'Count', 100, 'Interval', 6e-3);
%     result = wiregauge.control(run, {1000, [1 1 0]}, [], 'PID', [0.96 0 0.049]);
%     growth = arrayfun(@(one) one.assessment.on_trace.growth, result.points)'
%
%   Errors: wiregauge:usage (no such run or point, not an exchange run, no response in time, a model with an error or unstable without
%   delay), wiregauge:argument, wiregauge:missing (no wiregauge program).
%
%   See also wiregauge.exchange, wiregauge.loadRun.

wiregauge.internal.given(nargin, 1, Inf, 'result = wiregauge.control(''last'', {1000, [1 1 0]}, [], ''PID'', [0.96 0 0.049])');
places = {wiregauge.internal.runName(run)};
[words, tidy] = wiregauge.internal.loopModel(varargin); %#ok<ASGLU> The model file lasts until tidy is cleared.
if nargout == 0
    wiregauge.internal.printed('control', words, places);
else
    result = wiregauge.internal.answered('control', words, places);
end
end
