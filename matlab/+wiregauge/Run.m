classdef Run
%RUN  A stored run, as wiregauge.exchange, stream, loop and loadRun return it.
%   Its points are a struct array; figures of all points make a vector:
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'In', [48 1000], 'Depth', [1 2], 'Count', 100);
%     run                                  % a table of the points
%     p99 = [run.points.p99] / 1e3         % in us
%     plot([run.points.in_bytes], p99, 'o')
%
%   help wiregauge.loadRun lists the fields of points; run.figures(1) has those of the first point without its samples;
%   run.show('Full', true) prints all tables.
%   Octave cannot save objects: s = struct(run); save('run.mat', 's').
%
%   See also wiregauge.loadRun, wiregauge.exchange.

    properties (SetAccess = private)
        % Absolute path of the run.
        directory = '';
        % 'exchange', 'stream' or 'loop'.
        kind = '';
        % 'complete', 'interrupted', 'failed' or 'running'.
        state = '';
        % Why it failed; empty unless it did.
        problem = '';
        % Address of the device.
        address = '';
        % What was measured, as in run.json (docs/run-format.md).
        plan = struct();
        % Host, link and device, as in run.json.
        conditions = struct();
        % Warnings with their remedies, a cell column of text; empty if none.
        warnings = cell(0, 1);
        % A struct array, one element for each point.
        points = struct([]);
        % What the program printed when it measured; empty if the run was loaded. run.show() has the tables of every run.
        text = '';
        % The limits of 'Require' that are missed or undecided, a cell column of text; empty if none, and of a loaded run.
        missed = cell(0, 1);
    end

    properties (SetAccess = private, Hidden = true)
        % The tables of its display.
        tables = '';
    end

    methods
        function run = Run(values)
            %RUN  Use wiregauge.loadRun.
            if nargin == 0
                return % MATLAB makes the elements of an array so that are not given yet.
            end
            if ~isstruct(values) || ~isscalar(values)
                wiregauge.internal.fail('wiregauge:argument', 'use wiregauge.loadRun(''last''), not wiregauge.Run');
            end
            names = fieldnames(values);
            for k = 1:numel(names)
                run.(names{k}) = values.(names{k});
            end
        end

        function values = figures(run, number)
            %FIGURES  The figures of the points without their samples: a struct array of numbers.
            %   run.figures(1) displays those of the first point, and struct2table(run.figures()) makes a table in MATLAB. Octave
            %   displays run.points(1) with every sample.
            values = run.points(:)';
            columns = {'rtt_ns', 'trt_ns', 'summary', 'samples'};
            values = rmfield(values, columns(isfield(values, columns)));
            if nargin > 1
                wiregauge.internal.whole('the number of the point', number, 1, numel(values));
                values = values(number);
            end
        end

        function text = show(run, varargin)
            %SHOW  Print the tables of the run, with its answer and warnings.
            %   run.show() prints what `wiregauge show` does; with an output, text = run.show('Full', true) returns it. Options are
            %   the flags: 'Full' (true: all tables, and the full text of warnings), 'Confidence' (true: the confidence interval of
            %   every percentile), 'Format' ('text', 'md', 'latex', 'csv').
            printed = wiregauge.internal.tables(run.directory, wiregauge.internal.flags(varargin));
            if nargout == 0
                fprintf('%s', printed);
            else
                text = printed;
            end
        end

        function values = struct(run)
            %STRUCT  The run as a plain struct, which Octave can save.
            names = {'directory', 'kind', 'state', 'problem', 'address', 'plan', 'conditions', 'warnings', 'points', 'text', 'missed', ...
                'tables'};
            values = cell2struct(cellfun(@(name) run.(name), names, 'UniformOutput', false), names, 2);
        end

        function disp(run)
            %DISP  Print a summary: device, points, directory.
            if ~isscalar(run)
                fprintf('  %d runs of wiregauge\n', numel(run));
                return
            end
            fprintf('%s', wiregauge.internal.summaryText(run));
        end
    end
end
