function name = option(flag)
%OPTION  The name of an option for a flag of the wiregauge program.
%   name = wiregauge.internal.option('--subject-to') returns 'SubjectTo'. wiregauge.internal.flags does the reverse.

name = regexprep(flag, '^--', '');
if strcmp(name, 'pid')
    name = 'PID';
    return
end
first = [1, strfind(name, '-') + 1];
name(first) = upper(name(first));
name = strrep(name, '-', '');
end
